import CSQLite
import StoreAccess
import StoreFormat
import StoreWriting

/// Files from the middle of a transaction, which replace those of the closed store.
struct JournalLeftovers {
    var main: [UInt8]
    var journal: [UInt8]
}

extension RecipeConstruction {
    /// Does the damage that uses SQLite; returns the files to write after the store is closed.
    func breakContent() throws -> JournalLeftovers? {
        var leftovers: JournalLeftovers?
        for damage in recipe.damage where damage.needsConnection {
            do {
                switch damage.kind {
                case .statement(let sql): try connection.execute(sql)
                case .greatestKey(let entity, let value):
                    let layout = try layout(damage.position)
                    guard let root = layout.entities[entity]?.root, let number = layout.entities[root]?.number else {
                        throw values.error(damage.position, "the model has no entity \(entity)")
                    }
                    try connection.run(
                        "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
                        [.integer(value), .integer(number)]
                    )
                case .danglingRelationship(let name, let relationship):
                    try leadNowhere(name, relationship, damage.position)
                case .wrongEntity(let name, let number):
                    let key = try object(name, damage.position)
                    let entity = try entity(of: key, damage.position)
                    try connection.run(
                        "UPDATE \(SQLName.quoted(entity.table)) SET Z_ENT = ? WHERE Z_PK = ?",
                        [.integer(number), .integer(key.primaryKey)]
                    )
                case .missingIndexEntry(let index, let row): try leaveOut(row, of: index, damage.position)
                case .hotJournal(let statements): leftovers = try interrupt(statements, damage.position)
                default: break
                }
            } catch {
                throw located(error, damage.position)
            }
        }
        return leftovers
    }

    private func entity(of key: ObjectKey, _ position: RecipePosition) throws -> StoreLayout.Entity {
        guard let entity = try layout(position).entities[key.entity] else {
            throw values.error(position, "the store has no entity \(key.entity)")
        }
        return entity
    }

    private func leadNowhere(_ name: String, _ relationship: String, _ position: RecipePosition) throws {
        let key = try object(name, position)
        let entity = try entity(of: key, position)
        guard case .toOne(let foreign)? = entity.relationship(relationship)?.storage else {
            throw values.error(position, "\(key.entity) has no to-one relationship '\(relationship)'")
        }
        try connection.run(
            "UPDATE \(SQLName.quoted(entity.table)) SET \(SQLName.quoted(foreign.column)) = 999999 WHERE Z_PK = ?",
            [.integer(key.primaryKey)]
        )
    }

    /// Deletes the row, hides the index from SQLite, inserts the row again, and restores the index.
    private func leaveOut(_ row: Int64, of index: String, _ position: RecipePosition) throws {
        var entry: [SQLValue] = []
        try connection.forEachRow(
            "SELECT tbl_name, rootpage, sql FROM sqlite_schema WHERE type = 'index' AND name = ?",
            [.text(index)]
        ) { row in entry = (0..<3).map { row.value($0) } }
        guard entry.count == 3, let table = entry[0].text else {
            throw values.error(position, "the store has no index '\(index)'")
        }
        connection.withHandle { handle in
            _ = csqlite_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
        }
        let name = SQLName.quoted(table)
        try connection.execute(
            """
            CREATE TEMP TABLE kept AS SELECT * FROM \(name) WHERE rowid = \(row);
            DELETE FROM \(name) WHERE rowid = \(row);
            PRAGMA writable_schema = ON;
            """
        )
        try connection.run("DELETE FROM sqlite_schema WHERE type = 'index' AND name = ?", [.text(index)])
        try connection.execute("PRAGMA writable_schema = RESET; INSERT INTO \(name) SELECT * FROM kept;")
        try connection.execute("DROP TABLE kept; PRAGMA writable_schema = ON;")
        try connection.run(
            "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('index', ?, ?, ?, ?)",
            [.text(index)] + entry
        )
        try connection.execute("PRAGMA writable_schema = RESET")
    }

    /// Stops in the middle of a transaction, after SQLite has spilled pages into the main file.
    ///
    /// The bytes are read through SQLite's own handles then; afterwards the transaction is rolled back.
    private func interrupt(_ statements: [String], _ position: RecipePosition) throws -> JournalLeftovers {
        guard recipe.options.journalMode == .rollback else {
            throw values.error(position, "a hot journal needs the journal mode 'rollback'")
        }
        let before = try bytes(of: .main)
        try connection.execute(
            "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; PRAGMA synchronous = FULL; BEGIN IMMEDIATE"
        )
        defer { connection.rollback() }
        for statement in statements { try connection.execute(statement) }
        let leftovers = JournalLeftovers(main: try bytes(of: .main), journal: try bytes(of: .journal))
        guard leftovers.main != before, !leftovers.journal.isEmpty else {
            throw values.error(position, "the statements change too little: nothing was written before the commit")
        }
        return leftovers
    }

    private func bytes(of file: StoreConnection.File) throws -> [UInt8] {
        guard let count = Int(exactly: try connection.size(of: file)) else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        _ = try bytes.withUnsafeMutableBytes { try connection.read(file, into: $0, at: 0) }
        return bytes
    }
}
