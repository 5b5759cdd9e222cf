import StoreAccess

/// How the rows of one table are identified, read and written.
///
/// A table whose primary key may be null is split in two: its rows with a whole key, and the others.
struct PlainTable: Sendable {
    /// Columns that refer to another table.
    struct ForeignKey: Hashable, Sendable {
        let columns: [Int]
        /// The index of the parent table in the layout.
        let parent: Int
        let parentColumns: [Int]
        /// True if the columns refer to the parent's primary key, which a merge may change.
        let leadsToKey: Bool
    }

    /// A UNIQUE constraint or index over plain columns.
    struct Unique: Hashable, Sendable {
        let columns: [Int]
    }

    /// The table to write.
    let name: String
    /// The table to read, which differs for a virtual table that keeps its rows in a shadow table.
    let source: String
    /// The columns to write; generated columns are computed.
    let columns: [String]
    let sourceColumns: [String]
    /// The indices of the primary key's columns; empty if rows are identified by all their values.
    let key: [Int]
    /// True for each column of the key that compares texts by their bytes.
    let isKeyBinary: [Bool]
    /// True if the key is one number assigned by SQLite: a merge can assign another.
    let hasMovableKey: Bool
    /// The column name of the row number of a row without a key.
    let rowID: String?
    /// The condition that selects the rows; nil for all.
    let condition: String?
    let uniques: [Unique]
    let isAutoincrement: Bool
    let isVirtual: Bool
    /// True if SQLite's session extension does not see the rows.
    let isRecordedByHand: Bool
    /// Columns that come first in an index.
    let indexed: Set<Int>
    var foreignKeys: [ForeignKey] = []
    /// The table whose triggers maintain this virtual table: its rows have that table's numbers.
    var follows: Int?

    var isBag: Bool { key.isEmpty }

    /// True for a column that can have any value, because neither a key nor an index of words follows from it.
    func isFree(_ column: Int) -> Bool {
        !isVirtual && !key.contains(column)
            && !(uniques.map(\.columns) + foreignKeys.map(\.columns)).joined().contains(column)
    }

    var quotedName: String { SQLName.quoted(name) }
    private var quotedSource: String { SQLName.quoted(source) }
    /// The column name of the row number, which a query selects last unless it is the key; nil if the key identifies
    /// rows.
    private var number: String? { rowID ?? (isBag ? "rowid" : nil) }
    /// True if the row number is the key: a result has no room for it beside as many columns as a table may have.
    private var isNumberKey: Bool { rowID != nil && hasMovableKey }

    /// The columns, large values by reference unless `connection` is nil, then the row's number.
    private func sourceList(references connection: StoreConnection?) -> String {
        let columns = sourceColumns.enumerated()
            .map { place, name in
                guard let connection, !key.contains(place) else { return SQLName.quoted(name) }
                return connection.reference(to: name, of: source, rowID: number)
            }
        let last = isNumberKey ? nil : number
        return (columns + (last.map { [SQLName.quoted($0)] } ?? [])).joined(separator: ", ")
    }

    // MARK: Reading

    /// All rows in the order of their keys, or of all their values and then the row number.
    ///
    /// Large values are references unless `connection` is nil.
    func scan(references connection: StoreConnection?) -> String {
        let rest = condition.map { " WHERE \($0)" } ?? ""
        let query = "SELECT \(sourceList(references: connection)) FROM \(quotedSource)\(rest) ORDER BY "
        guard !isBag else {
            // Columns are ordered by their places in the result, so that each reference is computed once.
            let order = sourceColumns.enumerated()
                .map { "\($0.offset + 1) COLLATE BINARY, typeof(\(SQLName.quoted($0.element))) = 'real'" }
            return query + (order + ["\(columns.count + 1)"]).joined(separator: ", ")
        }
        let order = zip(key, isKeyBinary)
            .map { column, isBinary in
                SQLName.quoted(sourceColumns[column]) + (isBinary ? "" : " COLLATE BINARY")
            }
        return query + order.joined(separator: ", ")
    }

    /// All rows of a table with a movable key, the greatest key first.
    func scanFromTheEnd(references connection: StoreConnection?) -> String {
        scan(references: connection) + " DESC"
    }

    /// The condition that selects one row by its key, with one argument for each column of the key.
    func condition(inSource: Bool) -> String {
        zip(key, isKeyBinary).enumerated()
            .map { index, part in
                let column = SQLName.quoted(inSource ? sourceColumns[part.0] : columns[part.0])
                let same = "\(column) = ?\(index + 1)"
                // The first comparison lets SQLite use the key's index; the second distinguishes upper and lower case.
                return part.1 ? same : "\(same) AND \(column) COLLATE BINARY = ?\(index + 1)"
            }
            .joined(separator: " AND ")
    }

    /// The row with a key; nil if there is none.
    ///
    /// Large values are references unless `isWhole`.
    func row(_ key: PlainKey, in connection: StoreConnection, isWhole: Bool = false) throws -> [SQLValue]? {
        guard !isBag, key.values.count == self.key.count else { return nil }
        return try connection.referencing(isWhole ? nil : source) { byReference in
            var found: [SQLValue]?
            let list = sourceList(references: byReference ? connection : nil)
            try connection.forEachRow(
                "SELECT \(list) FROM \(quotedSource) WHERE \(condition(inSource: true))",
                key.values,
                keepingStatement: true
            ) { row in found = values(of: row, in: connection) }
            return found
        }
    }

    /// Some columns of a row in the form of a report; large values are not copied.
    func states(
        _ columns: [Int],
        of key: PlainKey,
        in connection: StoreConnection
    ) throws -> [StoreMergeConflict.State] {
        let row = try knownRow(key, in: connection)
        return columns.map { StoreMergeConflict.State(row[$0]) }
    }

    /// The row of a key that was read from the same state of the store; a missing row is an error.
    func knownRow(_ key: PlainKey, in connection: StoreConnection, isWhole: Bool = false) throws -> [SQLValue] {
        guard let row = try row(key, in: connection, isWhole: isWhole) else { throw lostRow(in: connection) }
        return row
    }

    func lostRow(in connection: StoreConnection) -> StoreError {
        StoreError(
            .changedMeanwhile,
            path: connection.location.path,
            "a row of the table \(name) is missing under its key; nothing was merged"
        )
    }

    /// The keys of the rows with these values in some columns, or the row numbers in a table without a key.
    ///
    /// Uniqueness spans the whole table; with `onlyOwn`, only the rows of this half are returned.
    func keys(
        where columns: [Int],
        are values: [SQLValue],
        in connection: StoreConnection,
        onlyOwn: Bool = false
    ) throws -> [PlainKey] {
        guard !values.contains(.null), !columns.isEmpty else { return [] }
        let list = isBag ? [rowID ?? "rowid"] : key.map { sourceColumns[$0] }
        var conditions = columns.map { SQLName.quoted(sourceColumns[$0]) + " = ?" }
        if onlyOwn, let condition { conditions.append("(\(condition))") }
        var found: [PlainKey] = []
        try connection.forEachRow(
            "SELECT \(list.map(SQLName.quoted).joined(separator: ", ")) FROM \(quotedSource) "
                + "WHERE \(conditions.joined(separator: " AND "))",
            values,
            keepingStatement: true
        ) { row in found.append(PlainKey((0..<list.count).map { row.value($0) })) }
        return found
    }

    /// Calls `body` with the key or number of each row and its values in some columns.
    func forEach(
        _ columns: [Int],
        in connection: StoreConnection,
        _ body: (PlainKey, [SQLValue]) throws -> Void
    ) throws {
        let list = (isBag ? [rowID ?? "rowid"] : key.map { sourceColumns[$0] }) + columns.map { sourceColumns[$0] }
        let count = isBag ? 1 : key.count
        let rest = condition.map { " WHERE \($0)" } ?? ""
        try connection.forEachRow(
            "SELECT \(list.map(SQLName.quoted).joined(separator: ", ")) FROM \(quotedSource)\(rest)"
        ) { row in
            try body(
                PlainKey((0..<count).map { row.value($0) }),
                (count..<count + columns.count).map { row.value($0) }
            )
        }
    }

    /// The values of a row that was selected with all columns.
    func values(of row: borrowing StoreRow, in connection: StoreConnection) -> [SQLValue] {
        columns.indices.map { connection.value(of: row, $0, at: cell($0, of: row)) }
    }

    private func cell(_ place: Int, of row: borrowing StoreRow) -> LargeValue.Place {
        let column = sourceColumns[place]
        if let number {
            let position = isNumberKey ? key.first ?? columns.count : columns.count
            return .cell(table: source, column: column, key: [number], [.integer(row.integer(position))])
        }
        return .cell(
            table: source,
            column: column,
            key: key.map { sourceColumns[$0] },
            key.map { row.value($0) }
        )
    }

    func key(of values: [SQLValue]) -> PlainKey { PlainKey(key.map { values[$0] }) }

    /// The greatest number in the table or its AUTOINCREMENT counter.
    func greatestKey(in connection: StoreConnection) throws -> Int64 {
        guard hasMovableKey, let column = key.first else { return 0 }
        let sql = "SELECT max(\(SQLName.quoted(sourceColumns[column]))) FROM \(quotedSource)"
        let present = try connection.value(sql)?.integer ?? 0
        return max(present, try sequence(in: connection), 0)
    }

    /// The greatest number that AUTOINCREMENT assigned in the table.
    func sequence(in connection: StoreConnection) throws -> Int64 {
        guard isAutoincrement else { return 0 }
        return try connection.value("SELECT max(seq) FROM sqlite_sequence WHERE name = ?", [.text(name)])?.integer ?? 0
    }
}
