public import ChangeRelay
internal import StoreAccess
internal import Synchronization

/// Saves of other processes to the same stores.
///
/// A container whose description posts remote-change notifications notifies other processes of each save before the
/// save returns. Receiving notifications needs no option.
extension PersistentContainer {
    /// Yields after other processes saved since the last element; ends with the task that iterates it.
    public var remoteChangeNotices: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = onRemoteChange { continuation.yield() }
            continuation.onTermination = { _ in observation.cancel() }
        }
    }

    /// Calls `body` after other processes saved, until the result is cancelled or released.
    public func onRemoteChange(_ body: @escaping @Sendable () -> Void) -> ChangeObservation {
        let observations = observations(body)
        let resumption = persistentStoreCoordinator.suspension.resumed.observe(body)
        return ChangeObservation {
            for observation in observations { observation.cancel() }
            resumption.cancel()
        }
    }

    /// Merges other processes' saves since the last call, or since the stores were loaded, into contexts; nil is the
    /// view context.
    ///
    /// Reads the changes from a store's history, or without history from the relay beside it. A commit that neither
    /// reports causes a full refresh. With a consumer name, the position is saved after each merge, so saves made while
    /// this process is not running are merged at its next start. One process at a time may use a name, until
    /// ``endMerging(as:)``. A read-only role cannot use a name and needs none.
    ///
    /// `legacy` names pending changes that apps without a relay archived; they are imported first. Throws without a
    /// consumer name, which says who has merged them.
    ///
    /// If no other process has saved, nothing is read.
    @discardableResult
    public func mergeRemoteChanges(
        into contexts: [ManagedObjectContext]? = nil,
        as consumer: String? = nil,
        importing legacy: [LegacyDefaultsImport] = []
    ) async throws -> RemoteChangeMerge {
        if consumer == nil, let source = legacy.first { throw RelayError.importWithoutConsumer(source.file.path) }
        return try await merger(consumer).merge(into: contexts ?? [viewContext], importing: legacy, waits: false)
    }

    /// Merges other processes' saves, past and future, until the task is cancelled.
    ///
    /// `body` receives the result of each merge that changed anything. A store locked by another program, a full disk, or in
    /// a read-only role a transaction that a killed program left half written does not end the merging: it is retried, at first
    /// after a second, later after up to a minute.
    public func followRemoteChanges(
        into contexts: [ManagedObjectContext]? = nil,
        as consumer: String? = nil,
        _ body: @Sendable (RemoteChangeMerge) async throws -> Void = { _ in }
    ) async throws {
        let (notices, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let observations = observations { continuation.yield() }
        let resumption = persistentStoreCoordinator.suspension.resumed.observe { continuation.yield() }
        defer {
            for observation in observations { observation.cancel() }
            resumption.cancel()
        }
        // Saves made before the observation began.
        continuation.yield()
        let merger = merger(consumer)
        var retry = MergeRetry()
        for await _ in notices {
            let merge: RemoteChangeMerge
            do {
                merge = try await merger.merge(into: contexts ?? [viewContext], waits: true)
            } catch let error as ManagedObjectError where error.code == .suspended {
                // The resumption is a notice, too.
                continue
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

    /// Releases the name of a consumer, so that another process may use it.
    public func endMerging(as consumer: String) async {
        // Removed only then: a suspension meanwhile waits for it, too.
        await mergers.withLock { $0[consumer] }?.end()
        mergers.withLock { _ = $0.removeValue(forKey: consumer) }
    }

    /// Why the last save to a store could not be posted; nil if it was, or if posting is off.
    ///
    /// Other processes detect such a commit and refresh all objects.
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
        persistentStoreCoordinator.stores.map(\.location)
            .compactMap { location in
                let notification = try? RemoteChangeNotification(beside: location) {
                    [weak coordinator = persistentStoreCoordinator] in
                    // A store that was reopened is another object, and one that was removed is not opened for this.
                    coordinator?.stores.first { $0.location == location }?.foreignVersion()
                }
                return notification?.observe(body)
            }
    }
}

/// The retry delay after a failed merge.
package struct MergeRetry {
    private static let longest = Duration.seconds(60)
    private var next = Duration.seconds(1)

    package init() {}

    /// Returns the delay, which doubles each time; nil after a permanent error.
    ///
    /// A store locked by another program and a full disk are temporary errors.
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
