import ChangeMerging
public import FoundationEssentials
import SafeFiles
public import StoreFormat

extension Finding.Code {
    /// A row of a merge's file could not be put back.
    public static let rowNotRestored = Finding.Code(rawValue: "rowNotRestored")
}

/// Puts rows that lost a decision of a merge back into a store, from the file that the merge left.
public struct ParkedRowRestoring: Sendable {
    /// What became of the rows.
    public struct Outcome: Sendable {
        /// Objects, or rows, that hold the parked values now.
        public let updated: Int
        /// Those that were gone and are there again.
        public let inserted: Int
        /// The rows that could not be put back, with the reason; they are still in the file.
        public let findings: [Finding]
    }

    private let store: StoreLocation
    private let file: StoreLocation
    private let options: MergeOptions

    /// Of the options, only those about locks count.
    public init(from file: URL, into store: URL, options: MergeOptions = MergeOptions()) {
        self.store = StoreLocation(url: store)
        self.file = StoreLocation(url: file)
        self.options = options
    }

    /// Puts all of them back in one transaction; a row that does not fit is left out and told.
    public func restore() throws(MigrationError) -> Outcome {
        do {
            let rows = try Directory.open(path: file.folder).openFile(file.name, for: .reading)
            let folder = try Directory.open(path: store.folder)
            guard try folder.status(of: store.name) != nil else {
                throw MigrationError(.nothingFound, "there is no store to put rows into", path: store.path)
            }
            if let succession = try Succession(of: store, options: options.asShare) {
                throw MigrationError.outOfUse(succession, next: .inspect(path: succession.store.path))
            }
            let connection = try WritableStore(store, .arrival, lockTimeout: options.lockTimeout).connection
            let result = try ParkedRows(reading: rows)
                .restore(
                    into: MergePlace(connection, externalData: folder.externalData(of: store)),
                    deadline: Deadline(after: options.lockTimeout)
                )
            try connection.close()
            let lost = result.unrestored.map { row in
                Finding(
                    .rowNotRestored,
                    .warning,
                    level: .content,
                    "line \(row.line) was not put back: \(row.reason)",
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
