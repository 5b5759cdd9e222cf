import ChangeRelay
import ManagedObjects
import StoreAccess
import StoreFormat

/// Merges other processes' changes into the contexts of the reading side, in one of the ways of apps.
protocol ProbeReceiver {
    /// Merges the changes since the last call; with `repeating`, the changes of the last call again.
    mutating func receive(into contexts: [ManagedObjectContext], repeating: Bool) throws -> ProbeDelivery
}

/// Receives changes by refreshing everything, as an app without notifications must.
struct RefreshProbeReceiver: ProbeReceiver {
    func receive(into contexts: [ManagedObjectContext], repeating: Bool) throws -> ProbeDelivery {
        for context in contexts { try context.performAndWait { _ = try $0.viewContextDidSaveExternally() } }
        var delivery = ProbeDelivery()
        delivery.isFullRefresh = true
        return delivery
    }
}

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

/// Opens the store anew for every step, like an extension that is started for every change.
final class RestartingProbeSession: ProbeSession {
    private let begin: () throws -> any ProbeSession
    /// The session of the next step, if it was opened already.
    private var first: (any ProbeSession)?

    /// Opens the store once, so that a description that does not allow it is found here.
    init(_ begin: @escaping () throws -> any ProbeSession) throws {
        self.begin = begin
        first = try begin()
    }

    func carryOut(_ step: ProbeStep) throws -> ProbeAnswer {
        let session: any ProbeSession
        do {
            session = try first ?? begin()
        } catch {
            return ProbeAnswer(openingFailure: ProbeReason.text(of: error))
        }
        first = nil
        let answer = try session.carryOut(step)
        try session.end()
        return answer
    }

    func end() throws {
        try first?.end()
        first = nil
    }
}
