extension StoreSchema {
    /// A name, which must be valid Unicode: two names could be read as one, and a statement would not find either.
    private static func name(_ row: borrowing StoreRow, _ column: Int, of connection: StoreConnection) throws -> String
    {
        guard case .text(let text) = row.value(column) else { return "" }
        guard let name = text.unicode else {
            throw StoreError(
                .incompatible,
                path: connection.location.path,
                "a table, a column or an index has a name that is not valid Unicode: rename it, then run the command again"
            )
        }
        return name
    }

    /// Reads the schema; if other processes may change the store, the connection must have a read transaction open.
    package init(reading connection: StoreConnection) throws {
        var entries: [Entry] = []
        try connection.forEachRow("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid") {
            row in
            guard row.text(2) != Self.mergeEpochTable else { return }
            entries.append(
                Entry(
                    type: row.text(0) ?? "",
                    name: try Self.name(row, 1, of: connection),
                    table: try Self.name(row, 2, of: connection),
                    rootPage: row.integer(3),
                    sql: row.text(4)
                )
            )
        }
        let columns = try Self.columns(connection)
        let withoutRowID = try Self.tablesWithoutRowID(connection)
        let indexes = try Self.indexes(
            connection,
            definitions: Dictionary(
                entries.filter { $0.type == "index" }.map { ($0.name, $0.sql) },
                uniquingKeysWith: { first, _ in first }
            )
        )
        let shadows = Self.shadowOwners(entries)

        let tables = entries.filter { $0.type == "table" }
            .map { entry in
                let columns = columns[entry.name] ?? []
                let isWithoutRowID = withoutRowID.contains(entry.name)
                let own = indexes[entry.name] ?? []
                let alias = isWithoutRowID ? nil : Self.rowIDAlias(columns, indexes: own)
                return Table(
                    name: entry.name,
                    kind: Self.kind(entry, isWithoutRowID: isWithoutRowID, shadowOf: shadows[entry.name.lowercased()]),
                    columns: columns,
                    rowIDAlias: alias,
                    indexes: own.map { $0.index(rowIDAlias: alias) },
                    sql: entry.sql,
                    isWithoutRowID: isWithoutRowID
                )
            }
        self.init(
            tables: tables,
            triggers: entries.filter { $0.type == "trigger" }
                .map { Trigger(name: $0.name, table: $0.table, sql: $0.sql ?? "") },
            views: entries.filter { $0.type == "view" }.map { View(name: $0.name, sql: $0.sql ?? "") }
        )
    }

    /// One row of `sqlite_schema`.
    private struct Entry {
        let type: String
        let name: String
        let table: String
        let rootPage: Int64
        let sql: String?

        /// The module of a virtual table: the name after USING.
        var module: String? {
            guard type == "table", let sql else { return nil }
            var tokens = SQLTokenizer(sql)
            guard tokens.next()?.isWord("create") == true, tokens.next()?.isWord("virtual") == true else { return nil }
            while let token = tokens.next() {
                if token.isWord("using") { return tokens.next()?.name ?? "" }
            }
            return ""
        }
    }

    private static func kind(_ entry: Entry, isWithoutRowID: Bool, shadowOf owner: String?) -> Table.Kind {
        if let module = entry.module { return .virtual(module: module.lowercased()) }
        if entry.name.lowercased().hasPrefix("sqlite_") { return .ofSQLite }
        if let owner { return .shadow(of: owner) }
        return isWithoutRowID ? .withoutRowID : .ordinary
    }

    /// The shadow tables of SQLite's own modules and their virtual tables, by lower-case name.
    private static func shadowOwners(_ entries: [Entry]) -> [String: String] {
        var owners: [String: String] = [:]
        for entry in entries {
            guard let module = entry.module else { continue }
            for suffix in shadowSuffixes[module.lowercased()] ?? [] {
                owners[entry.name.lowercased() + "_" + suffix] = entry.name
            }
        }
        return owners
    }

    private static let shadowSuffixes: [String: [String]] = [
        "fts3": ["content", "segments", "segdir", "docsize", "stat"],
        "fts4": ["content", "segments", "segdir", "docsize", "stat"],
        "fts5": ["data", "idx", "content", "docsize", "config"],
        "rtree": ["node", "rowid", "parent"],
        "rtree_i32": ["node", "rowid", "parent"],
        "geopoly": ["node", "rowid", "parent"],
    ]

    /// The columns of every table with pages of its own; virtual tables are skipped, because reading them would connect
    /// them.
    private static func columns(_ connection: StoreConnection) throws -> [String: [Column]] {
        var result: [String: [Column]] = [:]
        try connection.forEachRow(
            """
            SELECT m.name, x.name, x.type, x."notnull", x.pk, x.hidden, x.dflt_value
            FROM sqlite_schema AS m, pragma_table_xinfo(m.name) AS x
            WHERE m.type = 'table' AND m.rootpage <> 0 ORDER BY m.rowid, x.cid
            """
        ) { row in
            let generation: Column.Generation =
                switch row.integer(5) {
                case 2: .virtual
                case 3: .stored
                default: .none
                }
            result[row.text(0) ?? "", default: []]
                .append(
                    Column(
                        name: try Self.name(row, 1, of: connection),
                        declaredType: row.text(2) ?? "",
                        notNull: row.integer(3) != 0,
                        primaryKeyPosition: Int(truncatingIfNeeded: row.integer(4)),
                        generation: generation,
                        defaultValue: row.text(6)
                    )
                )
        }
        return result
    }

    /// `index_info` with a table's own name returns rows only for a table without rowid.
    private static func tablesWithoutRowID(_ connection: StoreConnection) throws -> Set<String> {
        var result: Set<String> = []
        try connection.forEachRow(
            """
            SELECT DISTINCT m.name FROM sqlite_schema AS m, pragma_index_info(m.name) AS i
            WHERE m.type = 'table' AND m.rootpage <> 0
            """
        ) { result.insert($0.text(0) ?? "") }
        return result
    }

    /// `INTEGER PRIMARY KEY` is the rowid, except for a few unusual declarations for which SQLite creates an index.
    private static func rowIDAlias(_ columns: [Column], indexes: [FoundIndex]) -> String? {
        let key = columns.filter { $0.primaryKeyPosition > 0 }
        guard key.count == 1, let column = key.first, column.declaredType.lowercased() == "integer",
            !indexes.contains(where: { $0.origin == .primaryKey })
        else { return nil }
        return column.name
    }

    /// An index as the pragmas list it, before the rowid's column is known.
    private struct FoundIndex {
        let name: String
        let isUnique: Bool
        let origin: Index.Origin
        let isPartial: Bool
        let sql: String?
        var columns: [(number: Int64, name: String?, isDescending: Bool, collation: String)] = []

        func index(rowIDAlias: String?) -> Index {
            Index(
                name: name,
                isUnique: isUnique,
                origin: origin,
                isPartial: isPartial,
                columns: columns.map {
                    // Column number -1 is the rowid, -2 an expression.
                    Index.Column(
                        name: $0.number == -1 ? rowIDAlias : $0.name,
                        isDescending: $0.isDescending,
                        collation: $0.collation
                    )
                },
                sql: sql
            )
        }
    }

    private static func indexes(
        _ connection: StoreConnection,
        definitions: [String: String?]
    ) throws -> [String: [FoundIndex]] {
        var result: [String: [FoundIndex]] = [:]
        try connection.forEachRow(
            """
            SELECT m.name, l.name, l."unique", l.origin, l.partial, c.cid, c.name, c."desc", c.coll
            FROM sqlite_schema AS m, pragma_index_list(m.name) AS l, pragma_index_xinfo(l.name) AS c
            WHERE m.type = 'table' AND m.rootpage <> 0 AND c.key = 1 ORDER BY m.rowid, l.seq, c.seqno
            """
        ) { row in
            let table = row.text(0) ?? ""
            let name = row.text(1) ?? ""
            var indexes = result[table] ?? []
            if indexes.last?.name != name {
                indexes.append(
                    FoundIndex(
                        name: name,
                        isUnique: row.integer(2) != 0,
                        origin: Index.Origin(rawValue: row.text(3) ?? "") ?? .statement,
                        isPartial: row.integer(4) != 0,
                        sql: definitions[name] ?? nil
                    )
                )
            }
            indexes[indexes.count - 1].columns
                .append(
                    (row.integer(5), row.text(6), row.integer(7) != 0, row.text(8) ?? "BINARY")
                )
            result[table] = indexes
        }
        return result
    }
}
