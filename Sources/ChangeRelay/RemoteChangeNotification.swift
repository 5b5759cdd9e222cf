import SafeFiles
public import StoreAccess

/// Notifies the processes that share a store that another process saved.
///
/// A notification carries no payload and no count: the receiver reads the store, its history or the ``RelayQueue``.
/// Several posts may arrive as one notification. Every process except the poster is notified, including extensions by
/// extensions. They find each other by a file name derived from the store's. A suspended process is notified when it
/// resumes. A process that was not running must catch up by reading. Commits of programs that do not post are noticed
/// too.
public final class RemoteChangeNotification: BlockingCalls {
    /// A commit without a post within this time causes a notification by itself.
    package static let timeToPost = Duration.milliseconds(50)

    /// The store that is observed.
    public let store: StoreLocation
    private let file: WakeFile
    private let version: @Sendable () throws -> StoreVersion?
    private let usesWatches: Bool

    /// The name of the wake file: `.<name>.wake`.
    public static func name(for name: String) -> String { StoreLocation(folder: "", name: name).wakeName }

    /// For a process that does not write to the store directly, or that tolerates notifications of its own commits.
    ///
    /// A process that saves through a coordinator gets its notification object there, which skips its own saves.
    public convenience init(beside store: StoreLocation) throws(RelayError) {
        let folder: Directory
        do { folder = try Directory.open(path: store.folder) } catch { throw RelayError(error, path: store.path) }
        let probe = StoreVersionReader(store, in: folder)
        try self.init(beside: store, in: folder) { try probe.version() }
    }

    /// `version` changes when another process commits to the store.
    ///
    /// It returns nil while the version is unknown.
    package convenience init(
        beside store: StoreLocation,
        usesWatches: Bool = true,
        version: @escaping @Sendable () throws -> StoreVersion?
    ) throws(RelayError) {
        let folder: Directory
        do { folder = try Directory.open(path: store.folder) } catch { throw RelayError(error, path: store.path) }
        try self.init(beside: store, in: folder, usesWatches: usesWatches, version: version)
    }

    private init(
        beside store: StoreLocation,
        in folder: Directory,
        usesWatches: Bool = true,
        version: @escaping @Sendable () throws -> StoreVersion?
    ) throws(RelayError) {
        do { file = try WakeFile(beside: store, in: folder) } catch { throw RelayError(error, path: store.path) }
        self.store = store
        self.version = version
        self.usesWatches = usesWatches
    }

    /// A value that changes with another process's commit, to distinguish a commit from a mere post; nil while unknown.
    public func storeVersion() -> StoreVersion? { try? version() }

    /// Notifies every other listening process.
    ///
    /// Call it after a save was committed.
    public func post() throws(RelayError) {
        do { try file.post() } catch { throw RelayError(error, path: store.path) }
    }

    /// Calls `body` after other processes saved, never concurrently, until the result is cancelled or released.
    public func observe(_ body: @escaping @Sendable () -> Void) -> RemoteChangeObservation {
        RemoteChangeObservation(RemoteChangeWatch(file, usesWatches: usesWatches, version: version, body))
    }

    /// Yields after other processes have saved since the last element; ends with the task that iterates it.
    public var changes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = observe { continuation.yield() }
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}
