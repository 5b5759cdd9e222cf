import ChangeRelay
import ManagedObjects
import StoreFormat

/// Receives changes through the queue of change notices beside the store.
struct RelayProbeReceiver: ProbeReceiver {
    private static let name = "probe"

    private let coordinator: PersistentStoreCoordinator
    private let storeUUID: String
    private let queue: RelayQueue
    private let consumer: RelayConsumer
    private var position: Int64?
    /// The changes of the last call.
    private var last: [ObjectIDChanges] = []

    init(_ coordinator: PersistentStoreCoordinator, _ store: PersistentStore) throws {
        self.coordinator = coordinator
        storeUUID = store.identifier
        queue = try RelayQueue(beside: StoreLocation(url: store.url))
        consumer = try RelayConsumer(Self.name, of: queue)
        position = try queue.consumers()[Self.name]
    }

    mutating func receive(into contexts: [ManagedObjectContext], repeating: Bool) throws -> ProbeDelivery {
        var delivery = ProbeDelivery()
        guard !repeating else {
            try merge(last, into: contexts)
            return delivery
        }
        delivery.isPositionMoved = try queue.consumers()[Self.name] != position
        last = []
        while case let batch = try consumer.next(), !batch.isEmpty {
            delivery.isFullRefresh = delivery.isFullRefresh || batch.needsFullRefresh
            for posted in batch.notices {
                guard case .objects(let sets) = posted.notice.content else {
                    delivery.isFullRefresh = true
                    continue
                }
                let uris = sets.values.joined()
                delivery.otherStores.formUnion(uris.map(\.storeUUID).filter { $0 != storeUUID })
                delivery.uris.formUnion(uris.map(\.description))
                last.append(coordinator.changes(sets))
            }
            try merge(last, into: contexts)
            try consumer.acknowledge(batch)
        }
        if delivery.isFullRefresh {
            for context in contexts { try context.performAndWait { _ = try $0.viewContextDidSaveExternally() } }
        }
        position = try queue.consumers()[Self.name]
        return delivery
    }

    private func merge(_ changes: [ObjectIDChanges], into contexts: [ManagedObjectContext]) throws {
        for context in contexts {
            try context.performAndWait { for one in changes { try $0.mergeChanges(fromRemoteContextSave: one) } }
        }
    }
}
