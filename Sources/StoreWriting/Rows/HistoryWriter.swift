import FoundationEssentials
package import StoreAccess
package import StoreFormat

/// Writes persistent history: one transaction per save, and one change for every object that the save changed.
///
/// The tables and numbers are those of COREDATA §1.8; names are stored in the store's own form, old or new.
package struct HistoryWriter {
    /// The origin that a transaction records.
    package struct Origin: Sendable {
        package var author: String?
        package var context: String?
        package var bundle: String?
        package var process: String?
        /// The time of the commit, in seconds since 2001-01-01T00:00:00Z; nil is the time of writing under the lock.
        ///
        /// With nil, concurrent saves have times in the order of their numbers.
        package var timestamp: Double?

        package init(
            author: String? = nil,
            context: String? = nil,
            bundle: String? = nil,
            process: String? = nil,
            timestamp: Double? = nil
        ) {
            self.author = author
            self.context = context
            self.bundle = bundle
            self.process = process
            self.timestamp = timestamp
        }
    }

    /// The names under which history's own entities are numbered.
    private enum Own: String, CaseIterable {
        case change = "CHANGE"
        case transaction = "TRANSACTION"
        case string = "TRANSACTIONSTRING"
    }

    private let connection: StoreConnection
    private let layout: StoreLayout
    private let transactionColumns: Set<String>
    /// True if names are in a table of their own; the first generation keeps them in each transaction.
    private let hasStringTable: Bool
    private let tombstoneCount: Int
    private let entityNumbers: [Own: SQLValue]

    /// Nil for a store without history.
    ///
    /// The tables alone are not enough: if history was never enabled, its entities have no numbers.
    package init?(_ connection: StoreConnection, layout: StoreLayout, schema: StoreSchema) throws {
        guard let history = PersistentHistory(schema: schema), let numbers = try EntityNumbers(reading: connection),
            let transactions = schema.table(named: "ATRANSACTION"), let changes = schema.table(named: "ACHANGE"),
            case let own = EntityNumbers(numbers.entries.filter { !$0.isOfModel }),
            own.number(of: Own.change.rawValue) != nil, own.number(of: Own.transaction.rawValue) != nil
        else { return nil }
        self.connection = connection
        self.layout = layout
        entityNumbers = Dictionary(
            uniqueKeysWithValues: Own.allCases.compactMap { entity in
                own.number(of: entity.rawValue).map { (entity, .integer($0)) }
            }
        )
        transactionColumns = Set(transactions.columns.map { $0.name.uppercased() })
        hasStringTable = history.hasStringTable
        tombstoneCount = (0...changes.columns.count).first { changes.column(named: "ZTOMBSTONE\($0)") == nil } ?? 0
    }

    /// Writes the history of one save, inside the save's own transaction, and returns the transaction's number.
    @discardableResult
    package func write(_ changes: SaveChanges, from origin: Origin) throws -> Int64 {
        let number = try allocate(.transaction, count: 1)
        // Genuine times are whole microseconds.
        let time = ((origin.timestamp ?? Date().timeIntervalSinceReferenceDate) * 1_000_000).rounded() / 1_000_000
        var columns = ["Z_PK", "Z_ENT", "ZTIMESTAMP"]
        var arguments: [SQLValue] = [.integer(number), try entityNumber(.transaction), .real(time)]
        let names = [
            ("ZAUTHOR", origin.author), ("ZBUNDLEID", origin.bundle), ("ZCONTEXTNAME", origin.context),
            ("ZPROCESSID", origin.process),
        ]
        for (column, name) in names {
            guard let name else { continue }
            if hasStringTable, transactionColumns.contains(column + "TS") {
                columns.append(column + "TS")
                arguments.append(.integer(try interned(name)))
            } else if transactionColumns.contains(column) {
                columns.append(column)
                arguments.append(.text(name))
            }
        }
        try insert(into: "ATRANSACTION", columns, arguments)
        let groups = [changes.inserted, changes.updated, changes.deleted]
        let count = groups.reduce(0) { $0 + $1.count }
        guard count > 0 else { return number }
        try addTombstoneColumns(for: changes)
        var key = try allocate(.change, count: Int64(count))
        let own = try entityNumber(.change)
        var entity: StoreLayout.Entity?
        for (kind, objects) in zip([HistoryChange.Kind.insert, .update, .delete], groups) {
            for object in objects {
                // Objects of one entity follow each other.
                if entity?.name != object.entity { entity = layout.entities[object.entity] }
                guard let entity else {
                    key += 1
                    continue
                }
                var arguments: [SQLValue] = [
                    .integer(key), own, .integer(kind.rawValue), .integer(entity.number), .integer(object.primaryKey),
                    .integer(number), .null,
                ]
                if kind == .insert {
                    try connection.run(Self.changeSQL, arguments)
                } else {
                    try write(object, kind, of: entity, changes, &arguments)
                }
                key += 1
            }
        }
        return number
    }

    /// Adds a string to those of the history, which are never purged; does nothing if the store has no table for them.
    package func keep(_ string: String) throws {
        if hasStringTable { _ = try interned(string) }
    }

    /// Removes a string that nothing refers to.
    package func drop(_ string: String) throws {
        if hasStringTable { try connection.run("DELETE FROM ATRANSACTIONSTRING WHERE ZNAME = ?", [.text(string)]) }
    }

    private func write(
        _ object: ObjectKey,
        _ kind: HistoryChange.Kind,
        of entity: StoreLayout.Entity,
        _ changes: SaveChanges,
        _ arguments: inout [SQLValue]
    ) throws {
        if kind == .update {
            guard entity.historySlots.isComplete else {
                throw StoreError(
                    .incompatible,
                    path: connection.location.path,
                    "changes of \(object.entity) cannot be recorded in the store's history: "
                        + "not all of its properties were found"
                )
            }
            arguments[6] = .blob(entity.historySlots.bitmap(setting: changes.changedSlots(of: object)))
        }
        let tombstone = kind == .delete ? changes.tombstone(of: object) : []
        guard !tombstone.isEmpty else { return try connection.run(Self.changeSQL, arguments) }
        let columns = Self.changeColumns + tombstone.indices.map { "ZTOMBSTONE\($0)" }
        try insert(into: "ACHANGE", columns, arguments + tombstone)
    }

    private static let changeColumns = [
        "Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS",
    ]
    private static let changeSQL =
        "INSERT INTO ACHANGE (\(changeColumns.joined(separator: ", "))) VALUES (?, ?, ?, ?, ?, ?, ?)"

    /// Core Data also adds columns for tombstones on demand.
    private func addTombstoneColumns(for changes: SaveChanges) throws {
        let needed = changes.deleted.map { changes.tombstone(of: $0).count }.max() ?? 0
        guard needed > tombstoneCount else { return }
        for index in tombstoneCount..<needed {
            let name = "SELECT count(*) FROM pragma_table_info('ACHANGE') WHERE name = 'ZTOMBSTONE\(index)'"
            guard try connection.value(name) == .integer(0) else { continue }
            try connection.execute("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(index) BLOB")
        }
    }

    private func insert(into table: String, _ columns: [String], _ arguments: [SQLValue]) throws {
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try connection.run("INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))", arguments)
    }

    /// Returns the key of a string's row, and inserts the row if it is missing.
    private func interned(_ string: String) throws -> Int64 {
        let known = try connection.value("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?", [.text(string)])
        if let key = known?.integer { return key }
        let key = try allocate(.string, count: 1)
        try insert(
            into: "ATRANSACTIONSTRING",
            ["Z_PK", "Z_ENT", "ZNAME"],
            [.integer(key), try entityNumber(.string), .text(string)]
        )
        return key
    }

    private func entityNumber(_ entity: Own) throws(StoreError) -> SQLValue {
        guard let number = entityNumbers[entity] else {
            throw StoreError(.damaged, path: connection.location.path, "Z_PRIMARYKEY has no row for history")
        }
        return number
    }

    /// Reserves keys for rows of history; they begin after the greatest row, even if that exceeds the recorded key.
    private func allocate(_ entity: Own, count: Int64) throws -> Int64 {
        let number = try entityNumber(entity)
        let recorded = try connection.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [number])
        let present = try connection.value("SELECT max(Z_PK) FROM A\(entity.rawValue)")?.integer ?? 0
        guard case .integer(let greatest) = recorded, greatest >= 0,
            case let last = max(greatest, present), last <= Int64.max - count
        else { throw StoreError(.damaged, path: connection.location.path, "Z_PRIMARYKEY gives no key for history") }
        try connection.run("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", [.integer(last + count), number])
        return last + 1
    }
}

extension HistoryWriter {
    /// Writes the tables of history and their entity numbers into a store, in the caller's transaction.
    ///
    /// Existing tables stay: Core Data may have created them before tracking was enabled.
    package static func writeSchema(
        for model: ManagedObjectModel,
        to connection: StoreConnection
    ) throws(StoreError) {
        let count =
            model.entitiesByName.keys
            .map { name in
                model.attributes(of: name).count { $0.preservesValueInHistoryOnDeletion && !$0.isTransient }
            }
            .max() ?? 0
        let tombstones = (0..<count).map { ", ZTOMBSTONE\($0) BLOB" }.joined()
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, \
            ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(tombstones) );
            CREATE TABLE IF NOT EXISTS ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, \
            ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, \
            ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB );
            CREATE TABLE IF NOT EXISTS ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
            CREATE INDEX IF NOT EXISTS ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
            CREATE INDEX IF NOT EXISTS ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS);
            CREATE INDEX IF NOT EXISTS ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS);
            CREATE INDEX IF NOT EXISTS ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS);
            CREATE INDEX IF NOT EXISTS ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS);
            CREATE INDEX IF NOT EXISTS Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC);
            CREATE INDEX IF NOT EXISTS Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC);
            CREATE UNIQUE INDEX IF NOT EXISTS Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC);
            """
        )
        try numberEntities(in: connection)
    }

    /// Assigns numbers to history's own entities, if the tables exist and were never used.
    ///
    /// Keys begin after those of existing rows.
    private static func numberEntities(in connection: StoreConnection) throws(StoreError) {
        for (number, entity) in zip(16001..., Own.allCases) {
            let name = entity.rawValue
            try connection.execute(
                """
                INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX)
                SELECT \(number), '\(name)', 0, (SELECT ifnull(max(Z_PK), 0) FROM A\(name))
                WHERE NOT EXISTS (SELECT 1 FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)');
                """
            )
        }
    }
}
