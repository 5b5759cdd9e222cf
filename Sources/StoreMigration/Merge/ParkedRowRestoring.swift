import ChangeMerging
public import FoundationEssentials
import SafeFiles
public import StoreFormat

extension Finding.Code {
    /// A parked row could not be restored.
    public static let rowNotRestored = Finding.Code(rawValue: "rowNotRestored")
}

/// Restores parked rows into a store, from the file of a merge.
public struct ParkedRowRestoring: Sendable {
    /// The result of a restoration.
    public struct Outcome: Sendable {
        /// Objects, or rows, that have the parked values now.
        public let updated: Int
        /// Objects, or rows, that were missing and were inserted again.
        public let inserted: Int
        /// The rows that could not be restored, with the reason; they are still in the file.
        public let findings: [Finding]
    }

    private let store: StoreLocation
    private let file: StoreLocation
    private let options: MergeOptions

    /// Uses only the options for locks.
    public init(from file: URL, into store: URL, options: MergeOptions = MergeOptions()) {
        self.store = StoreLocation(url: store)
        self.file = StoreLocation(url: file)
        self.options = options
    }

    /// Restores all rows in one transaction; a row that does not fit is skipped and reported.
    ///
    /// A cancelled task does not begin.
    public func restore() async throws(MigrationError) -> Outcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try restoreAndWait() }
    }

    /// Restores all rows in one transaction, while the caller waits.
    public func restoreAndWait() throws(MigrationError) -> Outcome {
        do {
            let rows = try Directory.open(path: file.folder).openFile(file.name, for: .reading)
            let folder = try Directory.open(path: store.folder)
            guard try folder.status(of: store.name) != nil else {
                throw MigrationError(.nothingFound, "there is no store to restore rows into", path: store.path)
            }
            let surroundings = options.surroundings(.silent, nil)
            if let succession = try Succession(of: store, surroundings) {
                throw MigrationError.outOfUse(succession, next: .inspect(path: succession.store.path))
            }
            let connection = try WritableStore(store, .arrival, lockTimeout: surroundings.lockTimeout).connection
            let result = try ParkedRows(reading: rows)
                .restore(
                    into: MergePlace(connection, externalData: folder.externalData(of: store)),
                    deadline: surroundings.lockDeadline()
                )
            try connection.close()
            let lost = result.unrestored.map { row in
                Finding(
                    .rowNotRestored,
                    .warning,
                    level: .content,
                    "line \(row.line) was not restored: \(row.reason)",
                    path: file.path,
                    entity: row.entity
                )
            }
            let number = Int64(Date().timeIntervalSince1970 * 1e6)
            return Outcome(
                updated: result.updated,
                inserted: result.inserted,
                findings: lost + MergeAnnouncement(store, epoch: "parked", number: number).post()
            )
        } catch {
            throw MigrationError(error)
        }
    }
}
