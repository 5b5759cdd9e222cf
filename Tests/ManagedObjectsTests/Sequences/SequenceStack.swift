import ManagedObjects

/// One small store that many sequences use in turn: making a store for each would take most of the time.
final class SequenceStack {
    private let store: DummyStore
    let foreign: ForeignWriter

    init() throws {
        // Nobody pulls the plug on a test.
        store = try DummyStore(pragmas: ["synchronous": "OFF"])
        foreign = try ForeignWriter(store.location, storeUUID: store.uuid)
    }

    var coordinator: PersistentStoreCoordinator { store.coordinator }

    /// Takes every object out of the store; keys go on where they were, so that nobody's memory is of new objects.
    func empty() throws { try foreign.deleteEverything() }
}
