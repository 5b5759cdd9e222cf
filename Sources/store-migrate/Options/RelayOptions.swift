import ArgumentParser
import ChangeRelay
import StoreFormat
import StoreMigration

/// The store that a relay belongs to, and how to open both.
struct RelayOptions: ParsableArguments {
    @Argument(help: "A store's main file; the relay is beside it.")
    var store: PathArgument

    @OptionGroup var access: AccessOptions

    /// The store's layout; throws when the path is not a readable store.
    func inspection(_ reporter: Reporter) throws -> StoreInspection { try access.layout(of: store.location, reporter) }

    /// The relay, created if missing; a process started as root becomes the store's owner first.
    func queue(_ reporter: Reporter) throws -> RelayQueue {
        _ = try inspection(reporter)
        try Surroundings.current.becomeOwner(of: store.url)
        return try RelayQueue(beside: store.location, lockTimeout: access.lockTimeout.duration)
    }

    /// The relay, if there is one; creates nothing.
    func existingQueue(_ reporter: Reporter) throws -> RelayQueue? {
        _ = try inspection(reporter)
        return try RelayQueue.existing(beside: store.location, lockTimeout: access.lockTimeout.duration)
    }
}
