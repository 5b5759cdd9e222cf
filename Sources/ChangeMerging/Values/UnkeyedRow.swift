package import StoreAccess

/// A row that SQLite's session extension does not see, before and after a merge.
///
/// The extension sees no row of a table without a primary key, of a virtual table, or of one with generated columns. It
/// would hold a large value several times.
package struct UnkeyedRow: Hashable, Sendable, Codable {
    package let table: String
    /// The columns that identify the row; empty if rows are identified by all their values.
    package let keyColumns: [String]
    /// All written columns; of an update in place only the key and the changed columns.
    package let columns: [String]
    /// Nil if the merge added the row.
    package let before: [RecordedValue]?
    /// Nil if the merge removed the row.
    package let after: [RecordedValue]?
    /// True for an update in place.
    ///
    /// Without `before` or `after`, the row is recorded elsewhere with nulls in these columns.
    package var isInPlace: Bool { inPlace == true }
    private let inPlace: Bool?

    package init(
        table: String,
        keyColumns: [String],
        columns: [String],
        before: [RecordedValue]?,
        after: [RecordedValue]?,
        isInPlace: Bool = false
    ) {
        self.table = table
        self.keyColumns = keyColumns
        self.columns = columns
        self.before = before
        self.after = after
        inPlace = isInPlace ? true : nil
    }
}

/// A value of a recorded row.
///
/// A large value is its digest, and the number of its copy in the record, if there is one.
package enum RecordedValue: Hashable, Sendable {
    case whole(StoredValue)
    case large(Large)

    package struct Large: Hashable, Sendable, Codable {
        let isText: Bool
        let byteCount: Int
        let digest: String
        let part: Int?
    }

    package init(_ value: SQLValue, keptAs part: Int? = nil) {
        guard case .large(let large) = value else {
            self = .whole(StoredValue(value))
            return
        }
        let digest = SHA256.hexadecimal(digest: large.digest)
        self = .large(Large(isText: large.isText, byteCount: large.byteCount, digest: digest, part: part))
    }

    /// The value; the bytes of a large one are read from `source`.
    func sqlValue(from source: any LargeValueSource) -> SQLValue {
        switch self {
        case .whole(let value): value.sqlValue
        case .large(let large):
            .large(
                LargeValue(
                    isText: large.isText,
                    byteCount: large.byteCount,
                    digest: SHA256.digest(hexadecimal: large.digest) ?? [],
                    at: .part(large.part ?? -1),
                    of: source
                )
            )
        }
    }
}

extension RecordedValue: Codable {
    private enum Key: CodingKey {
        case large
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if let large = try container.decodeIfPresent(Large.self, forKey: .large) {
            self = .large(large)
        } else {
            self = .whole(try StoredValue(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .whole(let value): try value.encode(to: encoder)
        case .large(let large):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(large, forKey: .large)
        }
    }
}

/// Applies changes that block each other, because each takes a unique value that another row still has.
///
/// The rows are deleted together, then inserted with their new values.
struct UniqueValueSwap {
    private let connection: StoreConnection

    init(_ connection: StoreConnection) { self.connection = connection }

    /// `later` returns the error for a row that was changed later or whose values another row took.
    func carryOut(_ changes: [RecordedChange], _ later: (RecordedChange) -> StoreError) throws {
        guard !changes.isEmpty else { return }
        let schema = try StoreSchema(reading: connection)
        var rows: [(change: RecordedChange, columns: [String], values: [SQLValue])] = []
        for change in changes {
            guard let table = schema.table(named: change.table), change.kind != .delete else { throw later(change) }
            // Tables with generated columns are not recorded.
            let names = table.columns.map(\.name)
            guard names.count == change.after.count else { throw later(change) }
            let name = SQLName.quoted(table.name)
            let condition = change.keyColumns.map { SQLName.quoted(names[$0]) + " = ?" }.joined(separator: " AND ")
            var values = change.after.map { $0 ?? .null }
            if change.kind == .update {
                var former: [SQLValue]?
                let list = names.map(SQLName.quoted).joined(separator: ", ")
                try connection.forEachRow("SELECT \(list) FROM \(name) WHERE \(condition)", change.key) { row in
                    former = names.indices.map { row.value($0) }
                }
                guard let former else { throw later(change) }
                for index in names.indices {
                    if change.keyColumns.contains(index) || change.after[index] == nil {
                        values[index] = former[index]
                    } else if former[index] != change.before[index] {
                        throw later(change)
                    }
                }
                try connection.run("DELETE FROM \(name) WHERE \(condition)", change.key)
            }
            rows.append((change, names, values))
        }
        for (change, names, values) in rows {
            let list = names.map(SQLName.quoted).joined(separator: ", ")
            let places = names.map { _ in "?" }.joined(separator: ", ")
            do {
                try connection.run("INSERT INTO \(SQLName.quoted(change.table)) (\(list)) VALUES (\(places))", values)
            } catch {
                throw error.code == .failed ? later(change) : error
            }
        }
    }
}
