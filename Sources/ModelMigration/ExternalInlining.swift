import CSQLite
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting

/// Moves values from files into their rows, where the target permits no files.
///
/// The references are recorded before the tables change. The columns are the last ones of their new table: SQLite then
/// reserves the space of a value without holding it, and the bytes of the file are written in pieces.
struct ExternalInlining {
    private static let piece = 1 << 18

    private let plan: MigrationPlan
    private let connection: StoreConnection
    private let external: Directory?

    init(_ plan: MigrationPlan, _ connection: StoreConnection, _ external: Directory?) {
        (self.plan, self.connection, self.external) = (plan, connection, external)
    }

    /// The columns of a target table whose values move into their rows.
    static func columns(of table: String, in plan: MigrationPlan) -> [String] {
        var columns: [String] = []
        for entity in plan.layout.entities(inTable: table) {
            for attribute in plan.mapping.entity(entity.name)?.attributes ?? [] where attribute.movesIntoRows {
                guard let column = entity.attribute(attribute.target.name)?.column, !columns.contains(column) else {
                    continue
                }
                columns.append(column)
            }
        }
        return columns
    }

    /// True if the value in an SQL expression names a file.
    static func isReference(_ expression: String) -> String {
        "substr(\(expression), 1, 1) = x'02' AND length(\(expression)) = 38"
    }

    /// Records the rows whose values are in files, before the tables change.
    func record() throws {
        try connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS migration_values (store TEXT, key INTEGER, field TEXT, file BLOB)"
        )
        for entity in plan.mapping.entities {
            guard let former = entity.source.flatMap({ plan.source.layout.entities[$0] }),
                let target = plan.layout.entities[entity.target]
            else { continue }
            let condition = MigrationProof.condition(former, plan.source.layout)
            for attribute in entity.attributes where attribute.movesIntoRows {
                guard let source = attribute.source.flatMap({ former.attribute($0.name)?.column }),
                    let column = target.attribute(attribute.target.name)?.column
                else { continue }
                let name = SQLName.quoted(source)
                try connection.run(
                    "INSERT INTO migration_values SELECT ?, Z_PK, ?, substr(\(name), 2, 36) "
                        + "FROM \(SQLName.quoted(former.table)) WHERE \(condition) AND \(Self.isReference(name))",
                    [.text(SQLText(target.table)), .text(SQLText(column))]
                )
            }
        }
    }

    /// Writes the files of the recorded rows into them.
    func write() throws {
        var row: (table: String, key: Int64)?
        var files: [(column: String, file: String)] = []
        let rows = "SELECT store, key, field, file FROM migration_values ORDER BY store, key, field"
        try connection.forEachRow(rows) { next in
            let (table, key) = (next.text(0) ?? "", next.integer(1))
            if let row, row != (table, key) {
                try write(files, row.table, row.key)
                files = []
            }
            row = (table, key)
            files.append((next.text(2) ?? "", next.withBytes(3) { String(decoding: $0, as: UTF8.self) }))
        }
        if let row { try write(files, row.table, row.key) }
        try connection.execute("DROP TABLE migration_values")
    }

    /// Writes the values of one row; the space of all of them is reserved first.
    private func write(_ files: [(column: String, file: String)], _ table: String, _ key: Int64) throws {
        var sizes: [SQLValue] = []
        for (_, file) in files {
            guard let external, let status = try external.status(of: file), status.kind == .regular else {
                throw StoreError(.notFound, path: file, "the external file of a row of \(table) is missing")
            }
            sizes.append(.integer(status.size))
        }
        let set = files.map { "\(SQLName.quoted($0.column)) = zeroblob(?)" }.joined(separator: ", ")
        try connection.run("UPDATE \(SQLName.quoted(table)) SET \(set) WHERE Z_PK = ?", sizes + [.integer(key)])
        for (column, file) in files { try write(file, to: column, of: table, key) }
    }

    private func write(_ name: String, to column: String, of table: String, _ key: Int64) throws {
        guard let file = try external?.openFile(name, for: .reading) else { return }
        defer { try? file.close() }
        var blob: OpaquePointer?
        let code = connection.withHandle { sqlite3_blob_open($0, "main", table, column, key, 1, &blob) }
        defer { sqlite3_blob_close(blob) }
        guard code == SQLITE_OK else { throw connection.lastError }
        let size = Int(sqlite3_blob_bytes(blob))
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 16)
        defer { piece.deallocate() }
        var offset = 0
        while true {
            let count = try file.read(into: piece, at: Int64(offset))
            guard count > 0, offset + count <= size else {
                guard count == 0, offset == size else {
                    throw StoreError(.changedMeanwhile, path: name, "an external file changed while it was read")
                }
                return
            }
            guard sqlite3_blob_write(blob, piece.baseAddress, Int32(count), Int32(offset)) == SQLITE_OK else {
                throw connection.lastError
            }
            offset += count
            try connection.checkCancellation()
        }
    }
}

/// Compares a value with the one that a change of external storage makes of it.
///
/// Where files are permitted, a value begins with a byte: 1 before a value in its row, 2 before the name of a file.
struct ExternalForm {
    let external: Directory?
    /// The stores that large values are read from.
    let sources: [any LargeValueSource]

    /// True if `value` became `migrated`; `isExternal` if files are permitted now.
    func isKept(_ value: SQLValue, _ migrated: SQLValue, isExternal: Bool) throws -> Bool {
        if isExternal {
            guard let digest = try digest(of: value, after: [1]) else { return value == migrated }
            return try digest == self.digest(of: migrated)
        }
        if case .blob(let bytes) = value, bytes.count == 38, bytes.first == 2 {
            let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            // Without the folder the value cannot be read.
            guard let external else { return true }
            return try fileDigest(name, in: external) == digest(of: migrated)
        }
        guard let former = try digest(of: value) else { return value == migrated }
        return try former == digest(of: migrated) || former == digest(of: migrated, after: [1])
    }

    /// The digest of `first` and a text's or blob's bytes; nil for other values.
    private func digest(of value: SQLValue, after first: [UInt8] = []) throws -> [UInt8]? {
        var hash = SHA256()
        hash.update(first)
        switch value {
        case .null, .integer, .real: return nil
        case .text(let text): text.withBytes { bytes, _ in hash.update(bytes) }
        case .blob(let bytes): hash.update(bytes)
        case .large(let large):
            guard !first.isEmpty else { return large.digest }
            try large.forEachPiece(from: sources) { hash.update($0) }
        }
        return hash.digest
    }

    private func fileDigest(_ name: String, in folder: Directory) throws -> [UInt8] {
        let file = try folder.openFile(name, for: .reading)
        defer { try? file.close() }
        var hash = SHA256()
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: LargeValue.greatestWhole, alignment: 16)
        defer { piece.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try file.read(into: piece, at: offset)
            guard count > 0 else { return hash.digest }
            hash.update(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += Int64(count)
        }
    }
}

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
