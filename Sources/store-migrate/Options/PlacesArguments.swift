import ArgumentParser
import FoundationEssentials
import StoreAccess
import StoreMigration

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

extension Reporter {
    /// Shows the result of a share of these stores.
    func show(
        _ outcome: ShareOutcome,
        _ missing: ShareOptions.MissingPolicy,
        _ places: PlacesArguments,
        took: Duration
    ) -> Ending {
        show(outcome, missing, old: places.old.path, new: places.newPath, took: took)
    }
}
