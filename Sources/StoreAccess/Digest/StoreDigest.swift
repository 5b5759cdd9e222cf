import FoundationEssentials
package import SafeFiles

/// A digest of a store's whole content.
///
/// It covers each table's rows in key order with type and value, the schema and the external files. Equal digests mean
/// equal content, regardless of the page layout.
///
/// This package's fence is excluded.
public struct StoreDigest: Hashable, Sendable, Codable {
    /// The digest of one table.
    public struct Table: Hashable, Sendable, Codable {
        public let name: String
        public let rows: Int64
        /// SHA-256 in lower-case hexadecimal.
        public let digest: String

        public init(name: String, rows: Int64, digest: String) {
            self.name = name
            self.rows = rows
            self.digest = digest
        }
    }

    /// SHA-256 over all of the following, in lower-case hexadecimal.
    public let value: String
    /// SHA-256 of the schema.
    public let schema: String
    /// SHA-256 of the names and bytes of the external files; nil if there are none.
    public let externalFiles: String?
    public let tables: [Table]

    package init(value: String, schema: String, externalFiles: String?, tables: [Table]) {
        self.value = value
        self.schema = schema
        self.externalFiles = externalFiles
        self.tables = tables
    }
}

extension StoreDigest {
    /// Computes the digest of a store's whole content; rows are streamed.
    ///
    /// If other processes may change the store, the connection must have a read transaction open. Excluded are this
    /// package's fence, merge marks, and the statistics of `ANALYZE`, which are not content.
    package init(
        of connection: StoreConnection,
        externalData: Directory?,
        monitor: WorkMonitor = .silent
    ) throws {
        let externalFiles = try externalData.flatMap { try Self.digest(ofFilesIn: $0, monitor: monitor) }
        try self.init(of: connection, externalFiles: externalFiles, monitor: monitor)
    }

    /// The same with a known digest of the external files.
    package init(
        of connection: StoreConnection,
        externalFiles: String?,
        monitor: WorkMonitor = .silent
    ) throws {
        let schema = try StoreSchema(reading: connection)
        let names = schema.tables.filter(Self.covers)
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        var rows: Int64 = 0
        var tables: [Table] = []
        for table in names {
            tables.append(try Self.digest(of: table, in: connection, rowsBefore: rows, monitor: monitor))
            rows += tables.last?.rows ?? 0
        }
        self.init(
            schema: try StoreDefinitions(reading: connection).digest,
            externalFiles: externalFiles,
            tables: tables
        )
    }

    /// Combines the digests of the parts into that of the whole.
    private init(schema: String, externalFiles: String?, tables: [Table]) {
        var whole = ContentHasher()
        whole.append(schema)
        for table in tables {
            whole.append(table.name)
            whole.append(table.rows)
            whole.append(table.digest)
        }
        if let externalFiles { whole.append(externalFiles) } else { whole.appendNull() }
        self.init(value: whole.finish(), schema: schema, externalFiles: externalFiles, tables: tables)
    }

    /// The digest of the same store without some tables, and with only those rows of one table that meet a condition.
    ///
    /// `connection` must be the one that this digest was computed from; only the rows of `limited` are read again.
    package func leavingOut(
        _ leftOut: Set<String>,
        limiting limited: (table: String, rows: String),
        of connection: StoreConnection
    ) throws -> StoreDigest {
        let definition = try StoreSchema(reading: connection).tables.first { $0.name == limited.table }
        let tables = try tables.filter { !leftOut.contains($0.name) }
            .map { table in
                guard let definition, table.name == definition.name else { return table }
                return try Self.digest(
                    wholeRowsOf: definition,
                    in: connection,
                    where: limited.rows,
                    rowsBefore: 0,
                    monitor: .silent
                )
            }
        let schema = try StoreDefinitions(reading: connection, leavingOut: leftOut).digest
        return StoreDigest(schema: schema, externalFiles: externalFiles, tables: tables)
    }

    /// Computes the digest of one table: its name, the names of its columns, and every row in key order.
    ///
    /// A table with rows larger than `greatestRow` is read in pieces, value by value; the digest is the same.
    package static func digest(
        of table: StoreSchema.Table,
        in connection: StoreConnection,
        rowsBefore: Int64 = 0,
        greatestRow: Int = 8 << 20,
        monitor: WorkMonitor = .silent
    ) throws -> Table {
        try connection.stopping(by: monitor) {
            try digest(
                of: table,
                in: connection,
                rowsBefore: rowsBefore,
                greatestRow: greatestRow,
                reportingTo: monitor
            )
        }
    }

    private static func digest(
        of table: StoreSchema.Table,
        in connection: StoreConnection,
        rowsBefore: Int64,
        greatestRow: Int,
        reportingTo monitor: WorkMonitor
    ) throws -> Table {
        // SQLite's incremental I/O supports neither tables with generated columns nor tables without a row number.
        guard table.opensSingleValues, let rowID = table.rowIDName else {
            return try digest(wholeRowsOf: table, in: connection, rowsBefore: rowsBefore, monitor: monitor)
        }
        do {
            return try connection.withValueLimit(greatestRow) {
                try digest(wholeRowsOf: table, in: connection, rowsBefore: rowsBefore, monitor: monitor)
            }
        } catch let error as StoreError where error.code == .valueTooLarge {
            return try digest(
                valuesOf: table,
                rowID: rowID,
                in: connection,
                rowsBefore: rowsBefore,
                monitor: monitor
            )
        }
    }

    private static func digest(
        wholeRowsOf table: StoreSchema.Table,
        in connection: StoreConnection,
        where condition: String? = nil,
        rowsBefore: Int64,
        monitor: WorkMonitor
    ) throws -> Table {
        // Scanned without an index, a table returns its rows in the order of its key.
        let columns = contentColumns(of: table)
        let list = columns.isEmpty ? "NULL" : columns.map(SQLName.quoted).joined(separator: ", ")
        var hasher = head(of: table, columns)
        var rows: Int64 = 0
        var checked = 0
        let count = columns.count
        let rest = condition.map { " WHERE \($0)" } ?? ""
        try connection.forEachRow("SELECT \(list) FROM \(SQLName.quoted(table.name)) NOT INDEXED\(rest)") { row in
            for column in 0..<count { hasher.append(row, column) }
            rows &+= 1
            if rows & 0x3fff == 0 || hasher.byteCount > checked {
                try monitor.checkCancellation()
                monitor.report(.proving, rowsBefore + rows, of: 0)
                checked = hasher.byteCount + bytesBetweenChecks
            }
        }
        hasher.append(rows)
        return Table(name: table.name, rows: rows, digest: hasher.finish())
    }

    /// Few enough that a caller who asked to stop notices no delay.
    private static let bytesBetweenChecks = 16 << 20

    /// The same digest, without keeping a whole text or blob in memory.
    private static func digest(
        valuesOf table: StoreSchema.Table,
        rowID: String,
        in connection: StoreConnection,
        rowsBefore: Int64,
        monitor: WorkMonitor
    ) throws -> Table {
        let columns = contentColumns(of: table)
        let names = columns.dropFirst().map(SQLName.quoted)
        // `typeof` and the condition read only the row's header; the value itself is not fetched.
        let list =
            [SQLName.quoted(rowID)] + names.map { "typeof(\($0))" }
            + names.map { "CASE WHEN typeof(\($0)) IN ('text', 'blob') THEN NULL ELSE \($0) END" }
        let readers = columns.dropFirst().map { ValueReader(connection, table: table.name, column: $0) }
        var hasher = head(of: table, columns)
        var rows: Int64 = 0
        let query = "SELECT \(list.joined(separator: ", ")) FROM \(SQLName.quoted(table.name)) NOT INDEXED"
        try connection.forEachRow(query) { row in
            hasher.append(row, 0)
            for (index, reader) in readers.enumerated() {
                let type = row.text(1 + index)
                guard type == "text" || type == "blob" else {
                    hasher.append(row, 1 + readers.count + index)
                    continue
                }
                var isBegun = false
                try reader.read(row: row.integer(0)) { size, piece in
                    try monitor.checkCancellation()
                    if !isBegun { hasher.beginBytes(count: size, type == "text" ? .text : .blob) }
                    isBegun = true
                    hasher.appendPlain(piece)
                }
            }
            rows &+= 1
            try monitor.checkCancellation()
            if rows & 0x3ff == 0 { monitor.report(.proving, rowsBefore + rows, of: 0) }
        }
        hasher.append(rows)
        return Table(name: table.name, rows: rows, digest: hasher.finish())
    }

    private static func head(of table: StoreSchema.Table, _ columns: [String]) -> ContentHasher {
        var hasher = ContentHasher()
        hasher.append(table.name)
        hasher.append(Int64(columns.count))
        for column in columns { hasher.append(column) }
        return hasher
    }

    /// The rowid under an available name, then every column that stores a value.
    private static func contentColumns(of table: StoreSchema.Table) -> [String] {
        let stored = table.columns.filter { $0.generation != .virtual && $0.name != table.rowIDAlias }.map(\.name)
        return (table.rowIDName.map { [$0] } ?? []) + stored
    }

    /// True for a table whose rows are part of a digest.
    package static func covers(_ table: StoreSchema.Table) -> Bool { table.holdsRows && !isStatistics(table.name) }

    private static func isStatistics(_ name: String) -> Bool { name.lowercased().hasPrefix("sqlite_stat") }
}

extension StoreDigest {
    private static let greatestDepth = 16

    /// Computes the digest of the names, sizes and bytes of the files below a folder; nil if there are none.
    ///
    /// Files directly in the folder are included only if `isWanted` accepts their names.
    package static func digest(
        ofFilesIn folder: Directory,
        named isWanted: (String) -> Bool = { _ in true },
        monitor: WorkMonitor = .silent
    ) throws -> String? {
        var hasher = ContentHasher()
        var files: Int64 = 0
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { piece.deallocate() }
        var open: [(path: String, folder: Directory, depth: Int)] = [("", folder, 0)]
        while let (path, folder, depth) = open.popLast() {
            for name in try folder.names() where depth > 0 || isWanted(name) {
                try monitor.checkCancellation()
                guard let status = try folder.status(of: name) else { continue }
                if status.kind == .directory, depth < greatestDepth {
                    open.append((path + name + "/", try folder.openDirectory(name), depth + 1))
                    continue
                }
                files += 1
                hasher.append(path + name)
                hasher.append(status.kind.rawValue)
                guard status.kind == .regular else { continue }
                hasher.append(status.size)
                let file = try folder.openFile(name, for: .reading)
                var offset: Int64 = 0
                while true {
                    let count = try file.read(into: piece, at: offset)
                    hasher.appendPlain(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                    offset += Int64(count)
                    if count < piece.count { break }
                }
                guard offset == status.size else {
                    throw StoreError(.changedMeanwhile, path: file.path, "an external file changed while it was read")
                }
            }
        }
        return files == 0 ? nil : hasher.finish()
    }
}
