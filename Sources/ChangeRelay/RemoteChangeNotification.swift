import SafeFiles
public import StoreFormat

/// Tells processes that share a store that another one saved: no more than that, but that for sure.
///
/// There is no payload and no count: whoever hears it looks at the store, its history or the ``RelayQueue``. Many posts may
/// be heard as one. Every other process hears a post, extensions each other too, and never the one that posted; the name
/// under which they meet follows from the store. A process that was stopped hears of what it missed when it goes on; one
/// that was not running hears nothing, and catches up by reading. Commits by programs that post nothing are heard too.
public final class RemoteChangeNotification: Sendable {
    /// A commit that nobody posts within this time is told of without a post.
    package static let timeToPost = Duration.milliseconds(50)

    /// The store that it is about.
    public let store: StoreLocation
    private let file: WakeFile
    private let version: @Sendable () throws -> StoreVersion?
    private let usesWatches: Bool

    /// The name of the file by which processes meet: `.<name>.wake`.
    public static func name(for name: String) -> String { StoreLocation(folder: "", name: name).wakeName }

    /// For a process that does not write to the store by itself, or that looks for nothing new when it hears itself do so.
    ///
    /// One that saves through a coordinator gets its notification from there, and never hears itself.
    public convenience init(beside store: StoreLocation) throws(RelayError) {
        let folder: Directory
        do { folder = try Directory.open(path: store.folder) } catch { throw RelayError(error, path: store.path) }
        let probe = StoreProbe(store, in: folder)
        try self.init(beside: store, in: folder) { try probe.version() }
    }

    /// With `version`, which changes when somebody else commits to the store, and is nil when that cannot be told now.
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

    /// What changes when somebody else commits, to tell a commit from a mere post; nil when it cannot be told now.
    public func storeVersion() -> StoreVersion? { try? version() }

    /// Wakes every other process that listens; to be called after a save was committed.
    public func post() throws(RelayError) {
        do { try file.post() } catch { throw RelayError(error, path: store.path) }
    }

    /// Calls `body` after others saved, until the result is cancelled or gone; never twice at once.
    public func observe(_ body: @escaping @Sendable () -> Void) -> RemoteChangeObservation {
        RemoteChangeObservation(RemoteChangeWatch(file, usesWatches: usesWatches, version: version, body))
    }

    /// An element whenever others have saved since the last one was taken; ends with the task that waits for it.
    public var changes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = observe { continuation.yield() }
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}
