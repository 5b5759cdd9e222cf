/// Sets an attribute of chattr(1) on a file or folder for the lifetime of this object: `i` for immutable, `a` for
/// append-only.
package final class FileMark {
    private let mark: String
    private let path: String

    /// Nil where the user or the file system does not permit it.
    package init?(_ mark: String, on path: String) {
        self.mark = mark
        self.path = path
        guard Self.run("+" + mark, path) else { return nil }
    }

    deinit { _ = Self.run("-" + mark, path) }

    private static func run(_ change: String, _ path: String) -> Bool {
        (try? ChildProgram.run(["chattr", change, path]).status) == 0
    }

    /// True where both marks can be set in scratch folders.
    package static let isAvailable: Bool = {
        guard let folder = try? ScratchFolder() else { return false }
        return ["i", "a"].allSatisfy { FileMark($0, on: folder.path) != nil }
    }()
}
