import CSQLite
import StoreAccess

/// Records the rows of an entity's table with large values in place of SQLite's session extension, which would hold
/// each value of a changed row several times.
///
/// A row is read by reference before its first change and at the end. The difference is written as a changeset, without
/// the large values that changed: an ``UnkeyedRow`` has these.
struct ReferencedRows {
    private struct Row {
        /// Empty if there was no row.
        let values: [SQLValue]
        /// The copies of large values, by column.
        var kept: [Int: RecordedValue] = [:]
    }

    private let connection: StoreConnection
    private let tables: [String: StoreSchema.Table]
    /// The rows before their first change, by table and key.
    private var before: [String: [Int64: Row]] = [:]

    /// Triggers could write rows unnoticed, and a rollback empties columns: tables with either are not recorded here.
    init(_ connection: StoreConnection, _ schema: StoreSchema) {
        self.connection = connection
        let hasTriggers = schema.triggers.count > IndexTriggers(schema).triggers.count
        let own = schema.tables.filter { table in
            table.primaryKey.map(\.name) == ["Z_PK"]
                && ["Z_ENT", "Z_OPT"].allSatisfy { table.column(named: $0) != nil }
                && connection.referencesLargeValues(of: table.name)
                && !table.columns.contains { $0.isGenerated || $0.notNull && $0.primaryKeyPosition == 0 }
        }
        tables = hasTriggers ? [:] : Dictionary(uniqueKeysWithValues: own.map { ($0.name, $0) })
    }

    var names: [String] { tables.keys.sorted() }

    func includes(_ table: String) -> Bool { tables[table] != nil }

    /// Reads a row before a statement writes it, and copies the large values of the columns that it overwrites.
    mutating func willWrite(
        _ name: String,
        _ key: Int64,
        overwriting columns: [String]?,
        keep: (SQLValue) throws -> RecordedValue
    ) throws {
        guard let table = tables[name] else { return }
        var row = try before[name]?[key] ?? Row(values: values(of: key, in: table))
        for (index, value) in row.values.enumerated() where row.kept[index] == nil {
            guard case .large = value, columns?.contains(table.columns[index].name) ?? true else { continue }
            row.kept[index] = try keep(value)
        }
        before[name, default: [:]][key] = row
    }

    /// Passes the changes to `write` as changesets, and those of large values to `note`.
    func finish(_ write: ([UInt8]) throws -> Void, note: (UnkeyedRow) throws -> Void) throws {
        for name in names {
            guard let table = tables[name], let rows = before[name] else { continue }
            try write(Changeset.head(of: table))
            for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
                try finish(key, row, table, write, note)
            }
        }
    }

    private func finish(
        _ key: Int64,
        _ row: Row,
        _ table: StoreSchema.Table,
        _ write: ([UInt8]) throws -> Void,
        _ note: (UnkeyedRow) throws -> Void
    ) throws {
        let (before, after) = (row.values, try values(of: key, in: table))
        let isUpdate = !before.isEmpty && !after.isEmpty
        var large: [Int] = []
        var small: [Int] = []
        for (index, column) in table.columns.enumerated() where column.primaryKeyPosition == 0 {
            let values = [before, after].filter { !$0.isEmpty }.map { $0[index] }
            guard !isUpdate || values[0] != values[1] else { continue }
            if values.contains(where: \.isLarge) { large.append(index) } else { small.append(index) }
        }
        if let change = Changeset.change(from: before, to: after, small, of: table) { try write(change) }
        guard !large.isEmpty else { return }
        func recorded(_ values: [SQLValue], _ body: (Int) throws -> RecordedValue) rethrows -> [RecordedValue]? {
            try values.isEmpty ? nil : [RecordedValue(.integer(key))] + large.map(body)
        }
        try note(
            UnkeyedRow(
                table: table.name,
                keyColumns: ["Z_PK"],
                columns: ["Z_PK"] + large.map { table.columns[$0].name },
                before: recorded(before) { index in
                    guard before[index].isLarge else { return RecordedValue(before[index]) }
                    guard let kept = row.kept[index] else {
                        throw StoreError(
                            .failed,
                            path: connection.location.path,
                            "a large value of the table \(table.name) was changed before it was recorded"
                        )
                    }
                    return kept
                },
                after: recorded(after) { RecordedValue(after[$0]) },
                isInPlace: true
            )
        )
    }

    /// The values of a row, large ones by reference; empty if there is no row.
    private func values(of key: Int64, in table: StoreSchema.Table) throws -> [SQLValue] {
        let names = table.columns.map(\.name)
        return try connection.referencing(table.name) { byReference in
            let list = names.map { name in
                byReference && name != "Z_PK"
                    ? connection.reference(to: name, of: table.name, rowID: "Z_PK") : SQLName.quoted(name)
            }
            var values: [SQLValue] = []
            let query = "SELECT \(list.joined(separator: ", ")) FROM \(SQLName.quoted(table.name)) WHERE Z_PK = ?"
            try connection.forEachRow(query, [.integer(key)], keepingStatement: true) { row in
                values = names.indices.map {
                    let place = LargeValue.Place.cell(
                        table: table.name,
                        column: names[$0],
                        key: ["Z_PK"],
                        [.integer(key)]
                    )
                    return connection.value(of: row, $0, at: place)
                }
            }
            return values
        }
    }
}

/// The format in which SQLite's session extension writes changes.
///
/// Source: the comment on the changeset format in SQLite's `sqlite3session.c`.
private enum Changeset {
    static func head(of table: StoreSchema.Table) -> [UInt8] {
        Array("T".utf8) + varint(table.columns.count) + table.columns.map { $0.primaryKeyPosition > 0 ? 1 : 0 }
            + Array(table.name.utf8) + [0]
    }

    /// The change of a row, of an update only the key and the given columns; nil if nothing changed.
    ///
    /// Other columns of a row that is added or removed are null.
    static func change(
        from before: [SQLValue],
        to after: [SQLValue],
        _ columns: [Int],
        of table: StoreSchema.Table
    ) -> [UInt8]? {
        let columns = Set(columns)
        let all = table.columns.enumerated()
        switch (before.isEmpty, after.isEmpty) {
        case (true, true): return nil
        case (false, false):
            guard !columns.isEmpty else { return nil }
            return [UInt8(SQLITE_UPDATE), 0]
                + all.flatMap { index, column in
                    column.primaryKeyPosition > 0 || columns.contains(index) ? bytes(before[index]) : [0]
                } + all.flatMap { index, _ in columns.contains(index) ? bytes(after[index]) : [0] }
        case (true, false), (false, true):
            let row = before.isEmpty ? after : before
            return [UInt8(before.isEmpty ? SQLITE_INSERT : SQLITE_DELETE), 0]
                + all.flatMap { index, column in
                    bytes(column.primaryKeyPosition > 0 || columns.contains(index) ? row[index] : .null)
                }
        }
    }

    private static func bytes(_ value: SQLValue) -> [UInt8] {
        switch value {
        case .integer(let number): [1] + withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
        case .real(let number): [2] + withUnsafeBytes(of: number.bitPattern.bigEndian) { [UInt8]($0) }
        case .text(let text): text.withBytes { bytes, _ in [3] + varint(bytes.count) + bytes }
        case .blob(let bytes): [4] + varint(bytes.count) + bytes
        case .null, .large: [5]
        }
    }

    /// Seven bits a byte, the greatest first; all bytes but the last have the highest bit.
    private static func varint(_ number: Int) -> [UInt8] {
        var bytes = [UInt8(number & 0x7f)]
        var rest = number >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }
}
