import ArgumentParser
import FoundationEssentials
import StoreFormat
import StoreMigration

/// The old place and the new one; the new one is a path, a folder, or a database of a group.
struct PlacesArguments: ParsableArguments {
    @Argument(help: "The private store's main file.")
    var old: PathArgument

    @Argument(help: "Where to share it: a path, or a folder that takes the old name.")
    var new: PathArgument?

    @OptionGroup var group: GroupOptions

    mutating func validate() throws {
        guard (new == nil) != (group.group == nil) else {
            throw ValidationError("name the new place once: NEW, or --group ID")
        }
        if new != nil, group.name != nil || group.groups != nil {
            throw ValidationError("--name and --groups go with --group")
        }
    }

    /// The new place's path, as far as it can be told before anything is looked at.
    var newPath: String? { newLocation?.path }

    /// The same as a place.
    var newLocation: StoreLocation? { (try? newURL()).map { StoreLocation(url: $0) } }

    /// The new place, and where that is if it names a folder.
    var possibleLocations: [StoreLocation] {
        guard let place = newLocation else { return [] }
        return [place, StoreLocation(folder: place.path, name: old.location.name)]
    }

    /// The new place as the library takes it.
    func newURL() throws -> URL {
        if let new { return new.url }
        let container = try group.container()
        guard let name = group.name else { return container.url.appending(path: old.location.name) }
        return container.storeURL(databaseName: name)
    }
}
