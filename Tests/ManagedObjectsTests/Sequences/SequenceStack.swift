import ManagedObjects

/// A small store that many sequences use in turn: creating one for each would take most of the time.
final class SequenceStack {
    private let store: DummyStore
    let foreign: ForeignWriter

    init() throws {
        // A test need not survive a power failure.
        store = try DummyStore(pragmas: ["synchronous": "OFF"])
        foreign = try ForeignWriter(store.location, storeUUID: store.uuid)
    }

    var coordinator: PersistentStoreCoordinator { store.coordinator }

    /// Deletes every object; keys continue, so that no remembered key refers to a new object.
    func empty() throws { try foreign.deleteEverything() }
}
