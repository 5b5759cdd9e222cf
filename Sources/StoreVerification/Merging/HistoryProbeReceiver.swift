import ManagedObjects

/// Receives through the store's persistent history.
struct HistoryProbeReceiver: ProbeReceiver {
    private let coordinator: PersistentStoreCoordinator
    private var token: PersistentHistoryToken
    private var former: PersistentHistoryToken

    init(_ coordinator: PersistentStoreCoordinator) throws {
        self.coordinator = coordinator
        token = try coordinator.currentPersistentHistoryToken()
        former = token
    }

    mutating func receive(into contexts: [ManagedObjectContext], repeating: Bool) throws -> ProbeDelivery {
        let start = repeating ? former : token
        var delivery = ProbeDelivery()
        try coordinator.forEachHistoryTransaction(after: start) { transaction in
            delivery.uris.formUnion(transaction.changes.map { $0.changedObjectID.uriRepresentation() })
        }
        var end = start
        for context in contexts { end = try context.performAndWait { try $0.mergeHistory(after: start) } }
        (former, token) = (start, end)
        return delivery
    }
}
