import ArgumentParser
import ChangeRelay
import StoreFormat
import StoreMigration

/// The store that a relay lies beside, and how the verbs get at both.
struct RelayOptions: ParsableArguments {
    @Argument(help: "A store's main file; the relay lies beside it.")
    var store: PathArgument

    @OptionGroup var access: AccessOptions

    /// What the store is; what is none, or cannot be looked at, is an error.
    func inspection(_ reporter: Reporter) throws -> StoreInspection { try access.layout(of: store.location, reporter) }

    /// The relay, made if there is none yet; a process started as root becomes the store's owner first.
    func queue(_ reporter: Reporter) throws -> RelayQueue {
        _ = try inspection(reporter)
        try Surroundings.current.becomeOwner(of: store.url)
        return try RelayQueue(beside: store.location, lockTimeout: access.lockTimeout.duration)
    }

    /// The relay, if there is one; nothing is made.
    func existingQueue(_ reporter: Reporter) throws -> RelayQueue? {
        _ = try inspection(reporter)
        return try RelayQueue.existing(beside: store.location, lockTimeout: access.lockTimeout.duration)
    }
}
