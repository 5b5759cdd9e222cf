import StoreFormat

/// The external files that rows refer to, before and after a migration.
struct ExternalReferences {
    enum Time: Int64 {
        case before = 0
        case after
    }

    private let connection: StoreConnection

    init(_ connection: StoreConnection) { self.connection = connection }

    /// Records the files that the rows of `layout` refer to.
    func record(in layout: StoreLayout, as time: Time) throws {
        try connection.execute("CREATE TEMP TABLE IF NOT EXISTS migration_files (name TEXT, time INTEGER)")
        for names in layout.externalFileQueries {
            try connection.run("INSERT INTO migration_files SELECT name, ? FROM (\(names))", [.integer(time.rawValue)])
        }
    }

    /// The files that rows referred to before, and to which none refers after.
    func orphans() throws -> [String] {
        var names: [String] = []
        let sql = """
            SELECT name FROM migration_files WHERE time = 0
            EXCEPT SELECT name FROM migration_files WHERE time = 1 ORDER BY name
            """
        try connection.forEachRow(sql) { row in if let name = row.text(0) { names.append(name) } }
        try connection.execute("DROP TABLE migration_files")
        return names
    }
}
