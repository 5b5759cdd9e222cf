package import StoreFormat

/// Writes persistent history: one transaction a save, and one change for every object that the save touched.
///
/// The tables and numbers are those of COREDATA §1.8, the current generation.
package struct HistoryWriter {
    /// What a transaction says of its origin.
    package struct Origin: Sendable {
        package var author: String?
        package var context: String?
        package var bundle: String?
        package var process: String?
        /// The time of the commit, in seconds since 2001-01-01T00:00:00Z.
        package var timestamp: Double

        package init(
            author: String? = nil,
            context: String? = nil,
            bundle: String? = nil,
            process: String? = nil,
            timestamp: Double
        ) {
            self.author = author
            self.context = context
            self.bundle = bundle
            self.process = process
            self.timestamp = timestamp
        }
    }

    private static let changeEntity: Int64 = 16_001
    private static let transactionEntity: Int64 = 16_002
    private static let stringEntity: Int64 = 16_003

    private let connection: StoreConnection
    private let shape: StoreShape

    package init(_ connection: StoreConnection, shape: StoreShape) {
        self.connection = connection
        self.shape = shape
    }

    /// Writes the history of one save, inside the save's own transaction, and returns the transaction's number.
    @discardableResult
    package func write(_ changes: SaveChanges, from origin: Origin) throws -> Int64 {
        let number = try allocate(Self.transactionEntity, count: 1)
        let strings = try [origin.author, origin.bundle, origin.context, origin.process]
            .map { string in
                if let string { SQLValue.integer(try interned(string)) } else { SQLValue.null }
            }
        try connection.run(
            """
            INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZTIMESTAMP)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [.integer(number), .integer(Self.transactionEntity)] + strings + [.real(origin.timestamp)]
        )
        let groups = [changes.inserted, changes.updated, changes.deleted]
        let count = groups.reduce(0) { $0 + $1.count }
        guard count > 0 else { return number }
        var key = try allocate(Self.changeEntity, count: Int64(count))
        for (kind, objects) in groups.enumerated() {
            for object in objects {
                try write(object, kind: Int64(kind), of: changes, key: key, transaction: number)
                key += 1
            }
        }
        return number
    }

    private func write(
        _ object: ObjectKey,
        kind: Int64,
        of changes: SaveChanges,
        key: Int64,
        transaction: Int64
    ) throws {
        let entity = try shape.entity(object.entity)
        var columns = ["Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"]
        var arguments: [SQLValue] = [
            .integer(key), .integer(Self.changeEntity), .integer(kind), .integer(entity.number),
            .integer(object.primaryKey), .integer(transaction),
        ]
        if kind == 1 {
            columns.append("ZCOLUMNS")
            arguments.append(.blob(Self.bitmap(changes.changedSlots(of: object), in: entity.historySlots)))
        }
        for (index, value) in changes.tombstone(of: object).enumerated() {
            columns.append("ZTOMBSTONE\(index)")
            arguments.append(value)
        }
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try connection.run("INSERT INTO ACHANGE (\(columns.joined(separator: ", "))) VALUES (\(places))", arguments)
    }

    /// Returns the bitmap of changed properties: one bit a slot, the most significant bit first.
    package static func bitmap(_ changed: Set<StoreShape.HistorySlot>, in slots: [StoreShape.HistorySlot]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (slots.count + 7) / 8)
        for (index, slot) in slots.enumerated() where changed.contains(slot) {
            bytes[index / 8] |= 0x80 >> UInt8(index % 8)
        }
        return bytes
    }

    /// Returns the key of the row that holds a string, making the row when there is none.
    private func interned(_ string: String) throws -> Int64 {
        let known = try connection.value("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?", [.text(string)])
        if let key = known?.integer { return key }
        let key = try allocate(Self.stringEntity, count: 1)
        try connection.run(
            "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)",
            [.integer(key), .integer(Self.stringEntity), .text(string)]
        )
        return key
    }

    private func allocate(_ entity: Int64, count: Int64) throws -> Int64 {
        let greatest = try connection.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(entity)])
        guard case .integer(let last) = greatest, last >= 0, last <= Int64.max - count else {
            throw StoreError(.damaged, path: connection.location.path, "Z_PRIMARYKEY has no row for history")
        }
        try connection.run(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
            [.integer(last + count), .integer(entity)]
        )
        return last + 1
    }
}

extension HistoryWriter {
    /// Writes the tables of history and their entity numbers into a new store.
    static func writeSchema(for shape: StoreShape, to connection: StoreConnection) throws(StoreError) {
        let count = shape.entities.values.map(\.tombstoneAttributes.count).max() ?? 0
        let tombstones = (0..<count).map { ", ZTOMBSTONE\($0) BLOB" }.joined()
        try connection.execute(
            """
            CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, \
            ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(tombstones) );
            CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, \
            ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, \
            ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB );
            CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
            CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
            CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS);
            CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS);
            CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS);
            CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS);
            CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC);
            CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC);
            CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC);
            INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES
                (\(changeEntity), 'CHANGE', 0, 0), (\(transactionEntity), 'TRANSACTION', 0, 0),
                (\(stringEntity), 'TRANSACTIONSTRING', 0, 0);
            """
        )
    }
}
