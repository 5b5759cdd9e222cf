public import FoundationEssentials
public import Logging
import SafeFiles
import StoreAccess
import StoreBackup
import StoreFormat

/// What a caller decides about the removal of leftovers.
public struct CleaningOptions: Sendable {
    /// How many archives of retired stores are kept, the last ones of each store; nil keeps all.
    public var archives: Int?
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// The folder of the journals; nil means beside the stores.
    public var stateFolder: URL?
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false

    public init() {}
}

/// Something that an earlier run left on purpose, and what a cleaning did with it.
public struct Leftover: Hashable, Sendable {
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// The copy of a store whose content a run replaced.
        case displacedStore
        /// Displaced files without a store, such as a log whose main file was missing.
        case displacedFiles
        /// The shared store after an unshare.
        case withdrawnStore
        /// An old store whose retirement was interrupted.
        case retiredStore
        /// Rows that lost in a merge.
        case parkedRows
        /// The archive of a retired store.
        case archive
        /// The folder of a run that is not finished.
        case stagingFolder
        /// The rest of a leftover whose removal was interrupted.
        case interruptedRemoval
    }

    public let kind: Kind
    public let path: String
    /// The bytes of its files.
    public let bytes: Int64
    /// True if it was removed, or would be.
    public let isRemoved: Bool
    /// What proves that its rows are elsewhere, or why it is kept.
    public let reason: String
}

/// Lists and removes what earlier runs left on purpose, and never the last copy of a row.
///
/// A store is removed only if it has no rows, or if every row is, with the same values, in the store that is in use now, and
/// no process has it open. Parked rows are never removed, and archives only by the caller's retention. Everything else is
/// kept, with the reason. A removal is one rename, after which an interrupted removal is completed by the next cleaning.
public struct StoreCleaning: Sendable {
    private let place: URL
    private let options: CleaningOptions
    private let surroundings: Surroundings

    /// Creates a cleaning of the leftovers of one store, or of those of all stores in a folder.
    public init(
        at place: URL,
        options: CleaningOptions = CleaningOptions(),
        logger: Logger? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.place = place
        self.options = options
        surroundings = Surroundings(
            lockTimeout: options.lockTimeout,
            allowsNetworkFileSystem: options.allowsNetworkFileSystem,
            stateFolder: options.stateFolder,
            monitor: WorkMonitor(isCancelled: isCancelled),
            logger: logger ?? .silent
        )
    }

    /// Removes what is proved to be superfluous, and returns all leftovers; with `isRehearsal` nothing is changed.
    @discardableResult
    public func clean(isRehearsal: Bool = false) async throws(MigrationError) -> [Leftover] {
        try await AsynchronousRun.result { () throws(MigrationError) in try cleanAndWait(isRehearsal: isRehearsal) }
    }

    /// The same, while the caller waits.
    @discardableResult
    public func cleanAndWait(isRehearsal: Bool = false) throws(MigrationError) -> [Leftover] {
        do {
            let location = StoreLocation(url: place)
            let isFolder = StoreInspector.isFolder(location.path)
            let path = isFolder ? location.path : location.folder
            guard let folder = try Directory.openIfPresent(path: path) else {
                throw MigrationError(.nothingFound, "there is no such store or folder", path: location.path)
            }
            let run = CleaningRun(
                folder: folder,
                storeName: isFolder ? nil : location.name,
                isRehearsal: isRehearsal,
                archives: options.archives,
                surroundings: surroundings
            )
            return try run.clean()
        } catch {
            throw MigrationError(error)
        }
    }
}
