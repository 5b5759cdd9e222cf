import StoreAccess

/// The tables of a plain SQLite store, as a merge reads them.
struct PlainLayout: Sendable {
    /// How a merge handles the rows of a virtual table.
    enum VirtualTable: Hashable, Sendable {
        /// An index over another table or view, which is rebuilt; `content` is nil if unknown.
        case rebuilt(content: String?)
        /// An index whose content is elsewhere: one side's additions cannot be merged.
        case contentless
        /// A module that this code does not read.
        case unknown
    }

    private(set) var tables: [PlainTable] = []
    /// Parents before the tables that refer to them, except in a cycle.
    private(set) var order: [Int] = []
    private(set) var hasForeignKeyCircle = false
    private(set) var virtualTables: [String: VirtualTable] = [:]
    /// The tables with triggers of the application, which do not fire during a merge.
    let triggered: [String]
    private let positions: [String: Int]

    /// Reads the shared store's tables that `isWanted` accepts; the other stores have the same ones.
    init(reading connection: StoreConnection, where isWanted: (String) -> Bool = { _ in true }) throws {
        let schema = try StoreSchema(reading: connection)
        let isUTF8 = try ChangesetRecording.keepsTexts(of: connection)
        var tables: [PlainTable] = []
        var virtual: [String: VirtualTable] = [:]
        for table in schema.tables where isWanted(table.name) {
            switch table.kind {
            // A row with neither a row number nor a key cannot be identified.
            case .ordinary, .withoutRowID:
                tables += Self.tables(table, isUTF8: isUTF8).filter { !$0.isBag || $0.rowID != nil }
            case .virtual(let module):
                if let read = try Self.table(table, module: module, schema, connection) {
                    tables.append(read)
                } else {
                    virtual[table.name] = Self.kind(table, module: module)
                }
            case .shadow, .ofSQLite: break
            }
        }
        // Rows with a whole key come first, so that references to a table resolve to them.
        positions = Dictionary(
            tables.enumerated().map { ($0.element.name.lowercased(), $0.offset) },
            uniquingKeysWith: { first, _ in first }
        )
        let triggers = schema.triggers.filter { !$0.name.hasPrefix(StoreFence.prefix) }
        triggered = Set(triggers.map(\.table)).sorted()
        self.tables = tables
        virtualTables = virtual
        try readForeignKeys(connection)
        for (index, table) in tables.enumerated() where table.isVirtual {
            self.tables[index].follows =
                triggers.first { $0.sql.lowercased().contains(table.name.lowercased()) }
                .flatMap { positions[$0.table.lowercased()] }
        }
        putInOrder()
    }

    func position(of name: String) -> Int? { positions[name.lowercased()] }

    /// The search indexes to rebuild after rows of these tables (by lower-case name) were written.
    func indexes(over touched: Set<String>) -> [String] {
        guard !touched.isEmpty else { return [] }
        return virtualTables.keys.sorted()
            .filter { name in
                guard case .rebuilt(let content)? = virtualTables[name] else { return false }
                let source = content?.lowercased() ?? ""
                // A view may show rows of any table.
                return touched.contains(source) || position(of: source) == nil
            }
    }

    /// Rebuilds the search indexes over these tables.
    func rebuildIndexes(over touched: Set<String>, in connection: StoreConnection) throws {
        for name in indexes(over: touched) {
            let table = SQLName.quoted(name)
            try connection.run("INSERT INTO \(table) (\(table)) VALUES ('rebuild')", [])
        }
    }

    // MARK: Tables

    private static func tables(_ table: StoreSchema.Table, isUTF8: Bool) -> [PlainTable] {
        let stored = table.columns.filter { !$0.isGenerated }
        let names = stored.map(\.name)
        let key = table.primaryKey.compactMap { column in names.firstIndex(of: column.name) }
        let keyIndex = table.indexes.first { $0.origin == .primaryKey }
        let isBinary = key.map { place in
            keyIndex?.columns.first { $0.name == names[place] }.map { $0.collation.uppercased() == "BINARY" } ?? true
        }
        let uniques: [PlainTable.Unique] = table.indexes.filter { $0.isUnique && !$0.isPartial }
            .compactMap { index in
                let places = index.columns.compactMap { column in column.name.flatMap(names.firstIndex(of:)) }
                return places.count == index.columns.count && !places.isEmpty ? PlainTable.Unique(columns: places) : nil
            }
        let indexed = Set(
            table.indexes.filter { !$0.isPartial }
                .compactMap { $0.columns.first?.name.flatMap(names.firstIndex(of:)) }
                + (table.rowIDAlias.flatMap { names.firstIndex(of: $0) }.map { [$0] } ?? [])
        )
        func made(key: [Int], where condition: String?) -> PlainTable {
            PlainTable(
                name: table.name,
                source: table.name,
                columns: names,
                sourceColumns: names,
                key: key,
                isKeyBinary: key.isEmpty ? [] : isBinary,
                hasMovableKey: !key.isEmpty && table.rowIDAlias != nil,
                rowID: table.rowIDName,
                condition: condition,
                uniques: uniques,
                isAutoincrement: table.isAutoincrement,
                isVirtual: false,
                isRecordedByHand: key.isEmpty || stored.count < table.columns.count || !isUTF8,
                indexed: indexed
            )
        }
        guard !key.isEmpty else { return [made(key: [], where: nil)] }
        guard !table.isWithoutRowID, table.rowIDAlias == nil else { return [made(key: key, where: nil)] }
        // SQLite permits nulls in such a key, and null never equals null.
        let columns = key.map { SQLName.quoted(names[$0]) }
        return [
            made(key: key, where: columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")),
            made(key: [], where: columns.map { "\($0) IS NULL" }.joined(separator: " OR ")),
        ]
    }

    /// A virtual table whose rows can be read and written: a search index that keeps its texts, or a spatial index.
    private static func table(
        _ table: StoreSchema.Table,
        module: String,
        _ schema: StoreSchema,
        _ connection: StoreConnection
    ) throws -> PlainTable? {
        var (source, key, columns, sourceColumns): (String, String, [String], [String])
        switch module {
        case "fts3", "fts4", "fts5":
            guard let content = schema.table(named: table.name + "_content"),
                !mentions("compress", table.sql ?? ""), !mentions("languageid", table.sql ?? "")
            else { return nil }
            columns = ["rowid"] + (try self.columns(of: table.name, connection))
            sourceColumns = content.columns.map(\.name)
            (source, key) = (content.name, "rowid")
        case "rtree", "rtree_i32":
            columns = try self.columns(of: table.name, connection)
            sourceColumns = columns
            (source, key) = (table.name, columns.first ?? "")
        default: return nil
        }
        guard columns.count == sourceColumns.count, columns.count > 1, columns.first == key else { return nil }
        return PlainTable(
            name: table.name,
            source: source,
            columns: columns,
            sourceColumns: sourceColumns,
            key: [0],
            isKeyBinary: [true],
            hasMovableKey: true,
            rowID: nil,
            condition: nil,
            uniques: [],
            isAutoincrement: false,
            isVirtual: true,
            isRecordedByHand: true,
            indexed: [0]
        )
    }

    private static func columns(of table: String, _ connection: StoreConnection) throws -> [String] {
        var names: [String] = []
        try connection.forEachRow("SELECT name FROM pragma_table_info(?) ORDER BY cid", [.text(table)]) { row in
            names.append(row.text(0) ?? "")
        }
        return names
    }

    static func kind(_ table: StoreSchema.Table, module: String) -> VirtualTable {
        guard ["fts3", "fts4", "fts5"].contains(module) else { return .unknown }
        var tokens = SQLTokenizer(table.sql ?? "")
        while let token = tokens.next() {
            guard token.isWord("content"), tokens.next() == .symbol(UInt8(ascii: "=")) else { continue }
            guard let name = tokens.next()?.name, !name.isEmpty else { return .contentless }
            return .rebuilt(content: name)
        }
        return .unknown
    }

    private static func mentions(_ word: String, _ sql: String) -> Bool {
        var tokens = SQLTokenizer(sql)
        while let token = tokens.next() {
            if token.isWord(word) { return true }
        }
        return false
    }

    // MARK: Foreign keys

    private mutating func readForeignKeys(_ connection: StoreConnection) throws {
        var parts: [(table: String, number: Int64, parent: String, from: String, to: String?)] = []
        try connection.forEachRow(
            """
            SELECT m.name, f.id, f."table", f."from", f."to" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f
            WHERE m.type = 'table' AND m.rootpage <> 0 ORDER BY m.rowid, f.id, f.seq
            """
        ) { row in
            parts.append((row.text(0) ?? "", row.integer(1), row.text(2) ?? "", row.text(3) ?? "", row.text(4)))
        }
        for (index, table) in tables.enumerated() where !table.isVirtual {
            let own = parts.filter { $0.table == table.name }
            for number in Set(own.map(\.number)).sorted() {
                let key = own.filter { $0.number == number }
                guard let name = key.first?.parent, let parent = position(of: name) else { continue }
                let there = tables[parent]
                let columns = key.compactMap { part in
                    table.columns.firstIndex { $0.lowercased() == part.from.lowercased() }
                }
                let named = key.compactMap { part in
                    part.to.flatMap { to in there.columns.firstIndex { $0.lowercased() == to.lowercased() } }
                }
                let parentColumns = named.isEmpty ? there.key : named
                guard columns.count == key.count, parentColumns.count == columns.count else { continue }
                tables[index].foreignKeys
                    .append(
                        PlainTable.ForeignKey(
                            columns: columns,
                            parent: parent,
                            parentColumns: parentColumns,
                            leadsToKey: !there.isBag && Set(parentColumns) == Set(there.key)
                        )
                    )
            }
        }
    }

    private mutating func putInOrder() {
        var waiting = Array(tables.indices)
        while !waiting.isEmpty {
            let isWaiting = Set(waiting)
            var ready = waiting.filter { index in
                let table = tables[index]
                let needed = table.foreignKeys.filter(\.leadsToKey).map(\.parent) + (table.follows.map { [$0] } ?? [])
                if table.foreignKeys.contains(where: { $0.parent == index }) { hasForeignKeyCircle = true }
                return needed.allSatisfy { $0 == index || !isWaiting.contains($0) }
            }
            if ready.isEmpty {
                hasForeignKeyCircle = true
                ready = [waiting[0]]
            }
            order += ready
            waiting.removeAll(where: Set(ready).contains)
        }
    }
}

extension PlainTable.ForeignKey {
    /// The parent's key that the values of a row refer to; nil if one is null.
    func parentKey(_ values: [SQLValue], in parent: PlainTable) -> PlainKey? {
        var key: [SQLValue] = []
        for column in parent.key {
            guard let place = parentColumns.firstIndex(of: column), values[columns[place]] != .null else { return nil }
            key.append(values[columns[place]])
        }
        return PlainKey(key)
    }
}
