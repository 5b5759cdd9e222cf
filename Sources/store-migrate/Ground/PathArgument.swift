import ArgumentParser
import FoundationEssentials
import StoreAccess
import StoreFormat
import StoreMigration

/// A path as the user typed it; never empty.
struct PathArgument: ExpressibleByArgument {
    let text: String
    let url: URL

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(text: argument)
    }

    /// The working directory.
    static var currentFolder: PathArgument { PathArgument(text: ".") }

    private init(text: String) {
        self.text = text
        url = Self.url(of: text)
    }

    var defaultValueDescription: String { text }

    static var defaultCompletionKind: CompletionKind { .file() }

    /// The URL of a path, resolved against the folder of the surroundings.
    static func url(of text: String) -> URL {
        guard let folder = ToolSurroundings.current.folder else { return URL(filePath: text) }
        return URL(filePath: text, relativeTo: URL(filePath: folder, directoryHint: .isDirectory)).absoluteURL
    }

    var location: StoreLocation { StoreLocation(url: url) }
    /// The absolute path.
    var path: String { location.path }
}

/// A path that ends in a slash names a folder.
extension PathArgument {
    var namesFolder: Bool { text.hasSuffix("/") }

    /// Throws for a path that names a folder: the verb writes a file there.
    func requireFile() throws {
        guard namesFolder else { return }
        try requireFolder(" Then name a file in it.")
        throw Failure(
            outcome: .usage,
            message: "this is a folder, not a file",
            path: path,
            advice: "Name a file in it."
        )
    }

    /// Throws for a path that names a folder that does not exist.
    func requireFolder(_ more: String = "") throws {
        guard namesFolder, !StoreInspector.isFolder(path) else { return }
        guard !FileManager.default.fileExists(atPath: path) else {
            throw Failure(
                outcome: .usage,
                message: "the path ends in a slash, and this is a file",
                path: path,
                advice: "Leave the slash out, or name a folder."
            )
        }
        let next = NextStep.makeFolder(path: path)
        throw Failure(
            outcome: .nothingFound,
            message: "the folder does not exist",
            path: path,
            advice: "Create it: \(next)" + (more.isEmpty ? "" : "." + more),
            next: next
        )
    }
}
