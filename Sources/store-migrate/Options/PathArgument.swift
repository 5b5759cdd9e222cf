import ArgumentParser
import FoundationEssentials
import StoreFormat

/// A path as the user typed it; never empty.
struct PathArgument: ExpressibleByArgument {
    let text: String
    let url: URL

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(text: argument)
    }

    /// The folder the tool was started in.
    static var currentFolder: PathArgument { PathArgument(text: ".") }

    private init(text: String) {
        self.text = text
        url = Self.url(of: text)
    }

    static var defaultCompletionKind: CompletionKind { .file() }

    /// A path as the caller means it.
    static func url(of text: String) -> URL {
        guard let folder = Surroundings.current.folder else { return URL(filePath: text) }
        return URL(filePath: text, relativeTo: URL(filePath: folder, directoryHint: .isDirectory)).absoluteURL
    }

    var location: StoreLocation { StoreLocation(url: url) }
    /// The absolute path.
    var path: String { location.path }
}
