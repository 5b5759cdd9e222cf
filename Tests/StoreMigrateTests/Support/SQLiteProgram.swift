/// The `sqlite3` program, which reads and writes stores independently of this package.
enum SQLiteProgram {
    /// Runs statements, and returns their output.
    ///
    /// It waits while another process, such as a tool that reads the store, holds a lock.
    @discardableResult
    static func run(_ database: String, _ sql: String) async throws -> String {
        let run = try await Tool.run(command: ["sqlite3", "-batch", "-bail", "-cmd", ".timeout 60000", database, sql])
        guard run.status == 0 else {
            throw Tool.Failure(words: ["sqlite3", database, sql], status: "\(run.status)", errors: run.errors)
        }
        return run.output
    }

    /// The content of every ordinary table, sorted, with the type of each value.
    static func content(_ database: String) async throws -> [String: String] {
        let tables = try await run(database, tableQuery).split(separator: "\n").map(String.init)
        var result: [String: String] = [:]
        for table in tables {
            let quoted =
                "\"" + table.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
            let columns = try await run(
                database,
                "SELECT name FROM pragma_table_info('\(literal(table))') ORDER BY cid"
            )
            .split(separator: "\n").map { "\"\($0)\"" }
            let values = columns.map { "typeof(\($0)), quote(\($0))" }.joined(separator: ", ")
            let order = columns.map { "typeof(\($0)), \($0)" }.joined(separator: ", ")
            result[table] = try await run(database, "SELECT \(values) FROM \(quoted) ORDER BY \(order)")
        }
        return result
    }

    private static func literal(_ text: String) -> String {
        text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    }

    /// Ordinary tables, including the shadow tables that hold the content of virtual ones.
    private static let tableQuery =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
}
