package import ChangeRelay
public import StoreAccess
package import StoreFormat

/// Merges other processes' saves into the contexts of one coordinator, as one consumer.
actor RemoteChangeMerger {
    /// The number of transactions merged at a time, which bounds memory.
    private static let slice = 500
    private static let batch = 1_000

    private let coordinator: PersistentStoreCoordinator
    private let consumer: String?
    private var followed: [String: FollowedStore] = [:]
    private var last: Task<Void, Never>?

    init(_ coordinator: PersistentStoreCoordinator, as consumer: String?) {
        self.coordinator = coordinator
        self.consumer = consumer
    }

    /// Merges all pending changes; concurrent calls run one after the other.
    ///
    /// With `waits`, a commit without a notice is left to the next call, which the result then requests.
    func merge(
        into contexts: [ManagedObjectContext],
        importing legacy: [LegacyDefaultsImport] = [],
        waits: Bool
    ) async throws -> RemoteChangeMerge {
        let previous = last
        let task = Task {
            await previous?.value
            return try await mergeNow(into: contexts.inOrderOfDepth(), importing: legacy, waits: waits)
        }
        last = Task { _ = try? await task.value }
        return try await task.value
    }

    /// Releases the consumer's name after the running merges.
    func end() async {
        await last?.value
        followed = [:]
    }

    /// Waits for running merges, and releases the consumer's name; the next merge claims it again.
    func suspend() async {
        var awaited: Task<Void, Never>?
        while let task = last, task != awaited {
            await task.value
            awaited = task
        }
        for uuid in followed.keys { followed[uuid]?.release() }
    }

    private func mergeNow(
        into contexts: [ManagedObjectContext],
        importing legacy: [LegacyDefaultsImport],
        waits: Bool
    ) async throws -> RemoteChangeMerge {
        try coordinator.suspension.requireResumed()
        var result = RemoteChangeMerge()
        let stores = coordinator.stores
        // Stop following removed stores, which releases their consumer names.
        followed = followed.filter { _, one in stores.contains { $0 === one.store } }
        for store in stores {
            var one = try followed[store.uuid] ?? FollowedStore(store, as: consumer)
            // Keep the progress even if a later step fails.
            defer { followed[store.uuid] = one }
            try one.claim()
            try await result.add(merge(&one, into: contexts, importing: legacy, waits: waits))
        }
        return result
    }

    private func merge(
        _ one: inout FollowedStore,
        into contexts: [ManagedObjectContext],
        importing legacy: [LegacyDefaultsImport],
        waits: Bool
    ) async throws -> RemoteChangeMerge {
        var result = RemoteChangeMerge()
        let moment = try one.moment()
        if let consumer = one.consumer {
            for source in legacy { result.findings += try source.run(into: consumer.queue).findings }
            var isMore = true
            while isMore {
                let batch = try consumer.next(limit: Self.batch)
                isMore = batch.notices.count == Self.batch
                if batch.isEmpty { break }
                try await merge(batch, &one, into: contexts, &result)
                try consumer.acknowledge(batch, history: one.token.map { (one.store.uuid, $0) })
                one.savedToken = one.token
            }
            // Again, because the payloads count as merged only now.
            for source in legacy { _ = try source.run(into: consumer.queue) }
        }
        try await mergeHistory(&one, into: contexts, &result)
        if let consumer = one.consumer, let token = one.token, token != one.savedToken {
            try consumer.acknowledge(history: (one.store.uuid, token))
            one.savedToken = token
        }
        switch try one.judge(moment, waits: waits) {
        case .nothing: break
        case .wait: result.isUnsettled = true
        case .refresh: try await refresh(contexts, &result)
        }
        return result
    }

    private func merge(
        _ batch: RelayBatch,
        _ one: inout FollowedStore,
        into contexts: [ManagedObjectContext],
        _ result: inout RemoteChangeMerge
    ) async throws {
        var needsRefresh = batch.needsFullRefresh
        for posted in batch.notices {
            one.note(posted.notice)
            guard !one.isOwn(posted.notice) else { continue }
            switch posted.notice.content {
            case .objects(let sets):
                let changes = coordinator.changes(sets)
                guard !changes.isEmpty else { continue }
                try await ManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: contexts)
                result.notices += 1
            case .history:
                // A consumer that began without history has no position to read from.
                if one.token == nil { needsRefresh = true } else { result.notices += 1 }
            case .everything: needsRefresh = true
            }
        }
        try await mergeHistory(&one, into: contexts, &result)
        if needsRefresh { try await refresh(contexts, &result) }
    }

    private func mergeHistory(
        _ one: inout FollowedStore,
        into contexts: [ManagedObjectContext],
        _ result: inout RemoteChangeMerge
    ) async throws {
        guard var token = one.token else { return }
        let end = try one.store.lastTransaction() ?? 0
        do {
            // A store restored to an earlier state numbers new transactions like merged ones.
            guard token <= end else { throw ManagedObjectError(.historyTokenExpired, "the store was restored") }
            while true {
                let transactions = try one.store.transactions(after: token, limit: Self.slice)
                for transaction in transactions {
                    if one.store.poster?.isOwn(transaction.transactionNumber) != true {
                        let changes = transaction.objectIDNotification()
                        try await ManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: contexts)
                        result.transactions += 1
                    }
                    token = transaction.transactionNumber
                    one.token = token
                }
                if transactions.count < Self.slice { break }
            }
        } catch let error as ManagedObjectError {
            guard error.code == .historyTokenExpired else { throw error }
            try await refresh(contexts, &result)
            one.token = end
        }
    }

    private func refresh(_ contexts: [ManagedObjectContext], _ result: inout RemoteChangeMerge) async throws {
        for context in contexts { try await context.refreshFromStores() }
        result.isFullRefresh = true
    }
}

extension PersistentStoreCoordinator {
    /// The IDs in a notice; ignores addresses in other stores.
    package func changes(_ sets: [ChangeNotice.Change: [ObjectURI]]) -> ObjectIDChanges {
        func ids(_ change: ChangeNotice.Change) -> Set<ManagedObjectID> {
            Set((sets[change] ?? []).compactMap { managedObjectID(forURIRepresentation: $0.description) })
        }
        return ObjectIDChanges(
            inserted: ids(.inserted),
            updated: ids(.updated),
            deleted: ids(.deleted),
            refreshed: ids(.refreshed),
            invalidated: ids(.invalidated)
        )
    }
}

extension ManagedObjectContext {
    /// Refreshes all objects from the stores; unsaved changes survive.
    fileprivate func refreshFromStores() throws {
        let versions = try? persistentStoreCoordinator.externalVersions()
        try graph.refreshAllObjects(maximumAge: .zero)
        if let versions { graph.externalVersions = versions }
        try graph.processPendingChanges()
    }
}

/// The outcome of merging other processes' saves into a container.
public struct RemoteChangeMerge: Sendable, Hashable {
    /// The notices of the relay that were merged.
    public var notices = 0
    /// The transactions of history that were merged.
    public var transactions = 0
    /// True after a full refresh: a commit had no notice, or more was missed than the relay keeps.
    public var isFullRefresh = false
    /// Problems in imported payloads.
    public var findings: [Finding] = []
    /// True when a commit may still get its notice.
    var isUnsettled = false

    /// True when nothing was merged.
    public var isEmpty: Bool { notices == 0 && transactions == 0 && !isFullRefresh }

    mutating func add(_ other: RemoteChangeMerge) {
        notices += other.notices
        transactions += other.transactions
        isFullRefresh = isFullRefresh || other.isFullRefresh
        findings += other.findings
        isUnsettled = isUnsettled || other.isUnsettled
    }
}
