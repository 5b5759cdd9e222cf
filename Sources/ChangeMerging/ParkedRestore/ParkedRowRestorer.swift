import CSQLite
import FoundationEssentials
package import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting

/// Restores parked rows: over the existing object, else as a new one.
///
/// All rows are restored in one transaction. A row that cannot be restored is reported and skipped. An existing object
/// takes the parked values; members of to-many relationships are added, and none is removed.
package struct ParkedRowRestorer {
    /// The results by row.
    package struct Result: Hashable, Sendable {
        package internal(set) var updated = 0
        package internal(set) var inserted = 0
        package internal(set) var unrestored: [Unrestored] = []
        /// The number of its transaction in history; nil where the store keeps none.
        package internal(set) var historyTransaction: Int64?
    }

    /// A row that could not be restored.
    package struct Unrestored: Hashable, Sendable {
        package let line: Int
        package let entity: String
        package let key: [StoredValue]
        package let reason: String
    }

    private let reader: ParkedRowReader

    package init(reading file: DurableFile) { reader = ParkedRowReader(file) }

    /// Restores the rows; the store must be open for `liveWriting`, without a transaction.
    package func restore(
        into place: MergePlace,
        author: String = "store-migrate",
        deadline: Deadline
    ) throws -> Result {
        if try EntityNumbers(reading: place.connection) != nil {
            return try restoreObjects(place, author: author, deadline)
        }
        return try restoreRows(place.connection, deadline)
    }

    // MARK: Core Data

    private func restoreObjects(_ place: MergePlace, author: String, _ deadline: Deadline) throws -> Result {
        let connection = place.connection
        guard let layout = try StoreLayout(reading: connection, model: place.model) else {
            throw StoreError(.incompatible, path: connection.location.path, "the store contains no model")
        }
        let location = connection.location
        let writer = try RowWriter(
            connection,
            layout: layout.addingUnknownColumns(of: StoreSchema(reading: connection)),
            external: ExternalDataWriter(
                location,
                in: try Directory.open(path: location.folder),
                identifiers: .random()
            )
        )
        var time = Date().timeIntervalSinceReferenceDate
        if writer.tracksHistory {
            let last = try connection.value("SELECT ZTIMESTAMP FROM ATRANSACTION ORDER BY Z_PK DESC LIMIT 1")
            time = max(time, last?.number ?? time)
        }
        var result = Result()
        let save = try writer.save(from: HistoryWriter.Origin(author: author, timestamp: time), deadline: deadline) {
            try StoreFence.requireNone(in: connection)
            try reader.forEachRow { row, line in
                let restoring = ParkedObject(row, writer)
                switch try restoring.restore() {
                case .updated: result.updated += 1
                case .inserted: result.inserted += 1
                case .refused(let reason): result.unrestored.append(Self.unrestored(row, line, reason))
                }
            }
        }
        result.historyTransaction = save.transaction
        return result
    }

    static func unrestored(_ row: ParkedRow, _ line: Int, _ reason: String) -> Unrestored {
        Unrestored(line: line, entity: row.entity, key: row.key, reason: reason)
    }

    // MARK: Plain

    private func restoreRows(_ connection: StoreConnection, _ deadline: Deadline) throws -> Result {
        defer { _ = connection.withHandle { csqlite_configure($0, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1) } }
        return try connection.inTransaction(until: deadline) {
            try StoreFence.requireNone(in: connection)
            _ = connection.withHandle { csqlite_configure($0, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0) }
            let layout = try PlainLayout(reading: connection)
            let before = try PlainMerge.danglingRows(in: connection)
            var result = Result()
            var touched: Set<String> = []
            try reader.forEachRow { row, line in
                let restoring = ParkedPlainRow(row, layout, connection)
                switch try restoring.restore() {
                case .updated: result.updated += 1
                case .inserted: result.inserted += 1
                case .refused(let reason):
                    result.unrestored.append(Self.unrestored(row, line, reason))
                    return
                }
                touched.insert(row.entity.lowercased())
            }
            try layout.rebuildIndexes(over: touched, in: connection)
            for (table, count) in try PlainMerge.danglingRows(in: connection) where count > before[table] ?? 0 {
                throw StoreError(
                    .incompatible,
                    path: connection.location.path,
                    "parked rows of the table \(table) refer to missing rows; restore those first"
                )
            }
            return result
        }
    }
}

/// Reads parked rows from a file with one JSON object per line.
package struct ParkedRowReader {
    /// A line is one row with its large values; a longer line was not written here.
    private static let greatestLine = 4 << 30

    private let file: DurableFile

    package init(_ file: DurableFile) { self.file = file }

    /// Calls `body` with each row and its line number.
    ///
    /// Throws, with that number, if a line is not a parked row.
    package func forEachRow(_ body: (ParkedRow, _ line: Int) throws -> Void) throws {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { piece.deallocate() }
        var (offset, line): (Int64, Int) = (0, 1)
        var pending: [UInt8] = []
        func finish() throws {
            defer {
                pending.removeAll(keepingCapacity: true)
                line += 1
            }
            guard !pending.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) else { return }
            let row: ParkedRow
            do {
                row = try RecordCoding.decoder().decode(ParkedRow.self, from: Data(pending))
            } catch {
                throw unfit("line \(line) is no parked row")
            }
            try body(row, line)
        }
        while true {
            let count = try file.read(into: piece, at: offset)
            offset += Int64(count)
            for part in piece[..<count].split(separator: 10, omittingEmptySubsequences: false).enumerated() {
                if part.offset > 0 { try finish() }
                guard pending.count + part.element.count <= Self.greatestLine else {
                    throw unfit("line \(line) is too long for a parked row")
                }
                pending += part.element
            }
            if count < piece.count { break }
        }
        if !pending.isEmpty { try finish() }
    }

    private func unfit(_ message: String) -> StoreError { StoreError(.incompatible, path: file.path, message) }
}

/// The result of restoring one parked row.
enum ParkedRowOutcome {
    case updated, inserted
    case refused(String)
}
