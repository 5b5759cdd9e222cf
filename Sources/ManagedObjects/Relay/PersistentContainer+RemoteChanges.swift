public import ChangeRelay
internal import StoreFormat
internal import Synchronization

/// What other processes save to the same stores.
///
/// A container whose description posts remote-change notifications tells the others of each save before the save returns.
/// To hear of others, nothing has to be asked for.
extension PersistentContainer {
    /// An element whenever somebody else has saved since the last one was taken; ends with the task that waits for it.
    public var remoteChangeNotices: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observations = observations { continuation.yield() }
            continuation.onTermination = { _ in for observation in observations { observation.cancel() } }
        }
    }

    /// Calls `body` after others saved, until the result is cancelled or gone.
    public func onRemoteChange(_ body: @escaping @Sendable () -> Void) -> ChangeObservation {
        let observations = observations(body)
        return ChangeObservation { for observation in observations { observation.cancel() } }
    }

    /// Takes in what others saved since the last call, or since the stores were loaded, into contexts; nil is the view context.
    ///
    /// Where a store keeps a history, the changes come from there, else from the relay beside it; a commit that neither tells
    /// of is a reason to refresh everything. With the name of a consumer it is put down what was merged, after it was: what
    /// others save while this process does not run is merged when it runs again. One process at a time has a name; it is
    /// held until ``endMerging(as:)``. A read-only role needs none, and has no use of one.
    ///
    /// When nobody else has saved, nothing is read.
    @discardableResult
    public func mergeRemoteChanges(
        into contexts: [ManagedObjectContext]? = nil,
        as consumer: String? = nil,
        importing legacy: [LegacyDefaultsImport] = []
    ) async throws -> RemoteChangeMerge {
        try await merger(consumer).merge(into: contexts ?? [viewContext], importing: legacy, waits: false)
    }

    /// Takes in what others have saved, and whatever they save from here on, until the task is cancelled.
    ///
    /// `body` is told what came of each time that there was something. A lock that another program holds and a full disk end
    /// nothing: the merge is tried again, after a second at first and after a minute at most.
    public func followRemoteChanges(
        into contexts: [ManagedObjectContext]? = nil,
        as consumer: String? = nil,
        _ body: @Sendable (RemoteChangeMerge) async throws -> Void = { _ in }
    ) async throws {
        let (notices, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let observations = observations { continuation.yield() }
        defer { for observation in observations { observation.cancel() } }
        // What was saved before anybody listened.
        continuation.yield()
        let merger = merger(consumer)
        var retry = MergeRetry()
        for await _ in notices {
            let merge: RemoteChangeMerge
            do {
                merge = try await merger.merge(into: contexts ?? [viewContext], waits: true)
            } catch {
                guard let pause = retry.pause(after: error) else { throw error }
                for observation in observations { observation.remind(after: pause) }
                continue
            }
            retry = MergeRetry()
            if merge.isUnsettled {
                for observation in observations { observation.remind(after: RemoteChangeNotification.timeToPost) }
            }
            if !merge.isEmpty { try await body(merge) }
        }
    }

    /// Gives the name of a consumer back, so that another process may have it.
    public func endMerging(as consumer: String) async {
        await mergers.withLock { $0.removeValue(forKey: consumer) }?.end()
    }

    /// Why others could not be told of the last save to a store; nil when they were, or nobody asked for it.
    ///
    /// They see that there was one, and refresh everything.
    public func remoteChangePostingFailure(of store: PersistentStore) -> RelayError? {
        persistentStoreCoordinator.store(uuid: store.identifier)?.poster?.failure
    }

    private func merger(_ consumer: String?) -> RemoteChangeMerger {
        mergers.withLock { mergers in
            let merger = mergers[consumer ?? ""] ?? RemoteChangeMerger(persistentStoreCoordinator, as: consumer)
            mergers[consumer ?? ""] = merger
            return merger
        }
    }

    private func observations(_ body: @escaping @Sendable () -> Void) -> [RemoteChangeObservation] {
        persistentStoreCoordinator.stores.compactMap { try? $0.remoteChangeNotification().observe(body) }
    }
}

/// How long a merge that failed waits before it is tried again.
package struct MergeRetry {
    private static let longest = Duration.seconds(60)
    private var next = Duration.seconds(1)

    package init() {}

    /// The pause, which doubles each time; nil after an error that does not end by itself.
    ///
    /// A lock that another program holds and a full disk do.
    package mutating func pause(after error: any Error) -> Duration? {
        let passes =
            switch error {
            case let error as RelayError: [.busy, .noSpace].contains(error.code)
            case let error as StoreError: [.busy, .noSpace].contains(error.code)
            default: false
            }
        guard passes else { return nil }
        defer { next = min(next * 2, Self.longest) }
        return next
    }
}
