import ArgumentParser
import ChangeRelay
import StoreFormat
import StoreMigration

/// The store that a relay belongs to, and how to open both.
struct RelayOptions: ParsableArguments {
    @OptionGroup var named: StoreArguments

    @OptionGroup var access: AccessOptions

    /// The named store, beside which the relay is.
    var store: PathArgument { get throws { try named.store } }

    /// The store's layout; throws when the path is not a readable store.
    func inspection(_ reporter: Reporter) throws -> StoreInspection {
        try access.layout(of: store.location, reporter)
    }

    /// The relay, created if missing; a process started as root becomes the store's owner first.
    func queue(_ reporter: Reporter) throws -> RelayQueue {
        _ = try inspection(reporter)
        let store = try store
        try Surroundings.current.becomeOwner(of: store.url)
        return try RelayQueue(beside: store.location, lockTimeout: access.lockTimeout.duration)
    }

    /// The relay, if there is one; creates nothing.
    func existingQueue(_ reporter: Reporter) throws -> RelayQueue? {
        _ = try inspection(reporter)
        return try RelayQueue.existing(beside: store.location, lockTimeout: access.lockTimeout.duration)
    }
}
