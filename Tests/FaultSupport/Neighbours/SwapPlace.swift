import CLinux
import Foundation
import Glibc
package import SafeFiles
import Synchronization

/// A folder in which somebody exchanges names with symbolic links that lead out of it, and what lies outside.
package final class SwapPlace: Sendable {
    /// A file that is, every other moment, a link to one outside; it is also what ``Directory/replace(_:with:mode:)``
    /// writes for `memo`.
    package static let file = "memo.new"
    /// A folder that is, every other moment, a link to the one outside.
    package static let folder = "folder"
    /// A name that is free, or a link to where nothing is yet outside; the same for `note`.
    package static let vacant = "note.new"
    private static let link = "-link"
    private static let victim = "victim"
    /// As `linux/fs.h` has it.
    private static let exchange: UInt32 = 2

    private let temporary: TemporaryDirectory
    package let inside: Directory
    private let outside: Directory
    private let inner: Directory
    private let untouched: [FileStatus?]
    private let swaps = Atomic<Int>(0)
    private let isOver = Atomic<Bool>(false)
    private let end = DispatchSemaphore(value: 0)

    package init() throws {
        temporary = try TemporaryDirectory(prefix: "swap-place")
        inside = try temporary.directory.createDirectory("inside", mode: 0o700)
        outside = try temporary.directory.createDirectory("outside", mode: 0o755)
        inner = try outside.createDirectory("inner", mode: 0o755)
        for folder in [outside, inner] { try folder.replace(Self.victim, with: [7, 7, 7], mode: 0o644) }
        untouched = try Self.look(outside, inner)
        restore()
    }

    /// How often a name was exchanged.
    package var swapCount: Int { swaps.load(ordering: .relaxed) }

    /// Exchanges the names, on a thread of its own, for as long as the body takes.
    package func whileSwapping(_ body: () throws -> Void) rethrows {
        let number = open(inside.path, O_DIRECTORY | O_CLOEXEC)
        Thread { [self] in
            let swap = { (name: String, other: String, flags: UInt32) in
                if clinux_renameat2(number, name, number, other, flags) == 0 {
                    self.swaps.add(1, ordering: .relaxed)
                }
            }
            while !isOver.load(ordering: .relaxed) {
                for name in [Self.file, Self.folder] { swap(name, name + Self.link, Self.exchange) }
                swap(Self.vacant + Self.link, Self.vacant, UInt32(CLINUX_RENAME_NOREPLACE))
                swap(Self.vacant, Self.vacant + Self.link, UInt32(CLINUX_RENAME_NOREPLACE))
            }
            end.signal()
        }
        .start()
        defer {
            isOver.store(true, ordering: .relaxed)
            end.wait()
            close(number)
        }
        try body()
    }

    /// True if something is one of the files and folders outside.
    package func isOutside(_ status: FileStatus) -> Bool { untouched.contains { $0?.identity == status.identity } }

    /// True if anything happened outside.
    package func isOutsideTouched() throws -> Bool { try Self.look(outside, inner) != untouched }

    /// Makes what the attempts have removed, so that there is something to exchange again.
    package func restore() {
        let path = inside.path + "/"
        for (name, target) in [(Self.file, outside.path + "/" + Self.victim), (Self.folder, outside.path)] {
            let kinds = [name, name + Self.link].map { (try? inside.status(of: $0))?.kind }
            guard kinds.filter({ $0 == .symbolicLink }).count != 1 || kinds.contains(nil) else { continue }
            for name in [name, name + Self.link] {
                unlink(path + name)
                (try? inside.openDirectory(name))?.removeContents()
                rmdir(path + name)
            }
            symlink(target, path + name + Self.link)
            if name == Self.folder {
                mkdir(path + name, 0o700)
            } else {
                close(open(path + name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600))
            }
        }
        symlink(outside.path + "/new", path + Self.vacant + Self.link)
    }

    /// Everything outside, with its times and those of the folders.
    private static func look(_ outside: Directory, _ inner: Directory) throws -> [FileStatus?] {
        try [
            outside.status(), outside.status(of: victim), inner.status(), inner.status(of: victim),
            outside.status(of: "new"),
        ]
    }
}
