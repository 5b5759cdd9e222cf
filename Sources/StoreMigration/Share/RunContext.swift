import Logging
import SafeFiles
import StoreFormat
import StoreStrategies
import StoreVerification
import SystemPackage

/// What all parts of one run share: the two places, opened once, and what the caller decided.
struct RunContext {
    let transaction: String
    let old: StoreLocation
    let new: StoreLocation
    /// The folder that holds the old store.
    let oldFolder: Directory
    /// The folder that holds, or will hold, the new store.
    let container: Directory
    /// The group of the container, which the new files get.
    let group: UInt32
    let options: ShareOptions
    let monitor: WorkMonitor
    let logger: Logger
    /// Who writes when the level `merging` is shown.
    let probeWriter: any ProbeWriter
    /// The store as strategies describe it; nil when none was asked for.
    var described: DescribedStore?
    /// How each role opens the new store when the run is done; recorded beside the store.
    var descriptions: [StoreRole: PersistentStoreDescription] = [:]

    init(
        transaction: String,
        old: StoreLocation,
        new: StoreLocation,
        options: ShareOptions,
        monitor: WorkMonitor,
        logger: Logger,
        probeWriter: any ProbeWriter = CoordinatorProbeWriter()
    ) throws {
        self.transaction = transaction
        self.old = old
        self.new = new
        self.options = options
        self.monitor = monitor
        self.logger = logger
        self.probeWriter = probeWriter
        oldFolder = try Directory.open(path: old.folder)
        container = try Self.openContainer(new)
        group = try container.status().group
    }

    /// The folder of the journal.
    var stateFolder: StateFolder { StateFolder(of: old, stateFolder: options.stateFolder) }

    /// The folder of the new store; it is never created by us.
    static func openContainer(_ new: StoreLocation) throws -> Directory {
        do {
            return try Directory.open(path: new.folder)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            throw MigrationError(
                .nothingFound,
                "the folder of the new store does not exist",
                path: new.folder,
                advice: "Create it: mkdir -p '\(new.folder)'",
                next: .makeFolder(path: new.folder),
                underlyingError: error
            )
        }
    }

    /// The same run seen from the other side: what is to be read is the new store.
    func reversed() throws -> RunContext {
        try RunContext(
            transaction: transaction,
            old: new,
            new: old,
            options: options,
            monitor: monitor,
            logger: logger,
            probeWriter: probeWriter
        )
    }

    /// Opens the old store to lock and fence it; nothing is written before the lock is held.
    func openOldStore() throws -> StoreConnection {
        do {
            return try StoreConnection(old, access: .liveWriting, lockTimeout: options.effectiveLockTimeout)
        } catch {
            guard error.code == .unreadable || error.code == .notWritable else { throw error }
            throw MigrationError.oldNotWritable(error.message, path: old.path, error)
        }
    }

    /// Throws unless every connection has the file open that was inspected, and that file is still in its place.
    ///
    /// Whoever may write to the folder may have put another one there, a backup of the same store perhaps: what is locked
    /// and fenced would not be what was copied. Call it under the lock.
    func requireInspectedStore(_ inspection: StoreInspection, _ connections: StoreConnection...) throws {
        let isInPlace = try oldFolder.status(of: old.name)?.identity == inspection.identity
        guard
            try !isInPlace || connections.contains(where: \.hasMoved)
                || connections.contains(where: { try StoreMetadata(reading: $0)?.uuid != inspection.uuid })
        else { return }
        throw MigrationError(
            .busy,
            "another store took this one's place meanwhile",
            path: old.path,
            advice: "Let nothing replace the file while it is shared, then run the command again."
        )
    }

    /// True when this user can take the old store's write lock, or somebody else has it.
    func canLockOldStore() throws -> Bool {
        do {
            let connection = try openOldStore()
            try connection.beginWriting(deadline: Deadline(after: .zero))
            connection.rollback()
            try connection.close()
            return true
        } catch let error as StoreError {
            return error.code != .notWritable
        } catch let error as MigrationError where error.outcome == .notWritable {
            return false
        }
    }

    /// The deadline of a lock that is waited for from now on.
    func lockDeadline() -> Deadline { Deadline(after: options.effectiveLockTimeout) }

    /// Draws the number of a new run: 128 random bits, so that nothing depends on the clock.
    static func drawTransaction() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4)
            .map { _ in
                let digits = String(generator.next() as UInt32, radix: 16)
                return String(repeating: "0", count: 8 - digits.count) + digits
            }
            .joined()
    }
}
