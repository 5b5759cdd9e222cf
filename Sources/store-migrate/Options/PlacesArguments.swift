import ArgumentParser
import FoundationEssentials
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
        guard let folder = Surroundings.current.folder else { return URL(filePath: text) }
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

/// The old store and the new one; the new one is given as a path, a folder, or a database of a group.
struct PlacesArguments: ParsableArguments {
    @Argument(help: "The private store's main file.")
    var old: PathArgument

    @Argument(help: "The shared store: a path, or a folder, in which it keeps its name.")
    var new: PathArgument?

    @OptionGroup var group: GroupOptions

    mutating func validate() throws {
        guard new == nil || group.group == nil else { throw Self.notOnce }
        if new != nil { try group.requireComplete(hasOtherStore: true) }
    }

    /// Throws when neither the call nor its configuration names the new store.
    func requireNew() throws {
        guard new != nil || group.group != nil else { throw Self.notOnce }
    }

    private static let notOnce = ValidationError("name the new store once: NEW, or --group ID")

    /// The path of the new store as given, before checking whether it is a folder; nil when no path can be formed.
    var newPath: String? { newLocation?.path }

    /// The same as a location.
    var newLocation: StoreLocation? { (try? newURL()).map { StoreLocation(url: $0) } }

    /// The new store's possible locations: the path itself, and the old name inside it if it is a folder.
    var possibleLocations: [StoreLocation] {
        guard let place = newLocation else { return [] }
        return [place, StoreLocation(folder: place.path, name: old.location.name)]
    }

    /// The URL for the library: a path, a folder or a database of a group.
    func newURL() throws -> URL {
        if let new { return new.url }
        return try group.url(ofDatabaseLike: old.location)
    }
}

/// One store, given as a path or as a database of a group.
struct StoreArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The store: the path of its main file.", valueName: "store"))
    var path: PathArgument?

    @OptionGroup var group: GroupOptions

    func validate() throws {
        guard (path == nil) != (group.group == nil) else {
            throw ValidationError("name the store once: STORE, or --group ID --name NAME")
        }
        try group.requireComplete(hasOtherStore: false)
    }

    /// The named store; throws for a group without a container.
    var store: PathArgument {
        get throws { try path ?? group.path() }
    }
}
