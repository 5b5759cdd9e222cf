import ArgumentParser
import FoundationEssentials
import StoreFormat

/// A path as the user typed it; never empty.
struct PathArgument: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        text = argument
    }

    /// The folder the tool was started in.
    static let currentFolder = PathArgument(text: ".")

    private init(text: String) { self.text = text }

    static var defaultCompletionKind: CompletionKind { .file() }

    var url: URL { URL(filePath: text) }
    var location: StoreLocation { StoreLocation(url: url) }
    /// The absolute path.
    var path: String { location.path }
}
