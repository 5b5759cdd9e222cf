import CSQLite
package import SafeFiles
package import StoreAccess
import StoreFormat

/// Records a merge's writes with SQLite's session extension, so that the merge can be rolled back.
///
/// Create it inside the merge's transaction, before the first write. It omits what a rollback must keep: the greatest
/// keys, metadata, and history. The whole record is written when ``finish()`` returns, which is before the commit.
package final class ChangesetRecording: MergeRecording {
    private let connection: StoreConnection
    private let writer: RecordingWriter
    private let externalData: Directory?
    /// The external files that existed before the merge.
    private let files: NameList
    private var header: RecordingHeader
    private let definitions: StoreDefinitions
    private var session: OpaquePointer?
    /// The change in the number of rows from noted rows, by table.
    private var noted: [String: Int64] = [:]
    private var keptValues = 0
    private var referenced: ReferencedRows?

    /// Writes the record to a file, which is durable when ``finish()`` returns.
    package convenience init(
        _ connection: StoreConnection,
        externalData: Directory? = nil,
        to file: DurableFile
    ) throws {
        var offset: Int64 = 0
        try self.init(
            connection,
            externalData: externalData,
            { bytes in
                try file.write(bytes, at: offset)
                offset += Int64(bytes.count)
            },
            atEnd: { try file.synchronize() }
        )
    }

    /// Passes the record in pieces to `write`; the caller makes it durable, at the latest in `atEnd`.
    package init(
        _ connection: StoreConnection,
        externalData: Directory? = nil,
        _ write: @escaping (UnsafeRawBufferPointer) throws -> Void,
        atEnd: @escaping () throws -> Void = {}
    ) throws {
        self.connection = connection
        self.externalData = externalData
        files = try externalData?.names() ?? NameList()
        writer = RecordingWriter(write, atEnd: atEnd)
        definitions = try StoreDefinitions(reading: connection)
        let schema = try StoreSchema(reading: connection)
        let metadata = try StoreMetadata(reading: connection)
        let isManaged = try EntityNumbers(reading: connection) != nil
        let own = schema.tables.filter { table in
            switch table.kind {
            case .ordinary, .withoutRowID: !isManaged || !StoreSchema.isCoreDataBook(table.name)
            case .virtual, .shadow, .ofSQLite: false
            }
        }
        // The merge notes rows without a key itself, but triggers of a Core Data store may write such rows too.
        let unseen = isManaged ? own.filter(\.primaryKey.isEmpty).map(\.name) : []
        let referenced = isManaged ? ReferencedRows(connection, schema) : nil
        self.referenced = referenced
        header = RecordingHeader(uuid: metadata?.uuid, unseen: unseen, rows: [:])
        header.fields = try Self.fields(connection).mapValues { [$0] }
        for table in unseen { header.rows[table] = try Self.count(table, connection) }
        var session: OpaquePointer?
        var code = connection.withHandle { sqlite3session_create($0, "main", &session) }
        self.session = session
        let keepsTexts = try isManaged || Self.keepsTexts(of: connection)
        // The extension does not support generated columns; a merge of plain stores notes the rows of such tables
        // itself.
        for table in own
        where code == SQLITE_OK && keepsTexts && !table.primaryKey.isEmpty
            && !table.columns.contains(where: \.isGenerated) && referenced?.includes(table.name) != true
        {
            code = sqlite3session_attach(session, table.name)
        }
        guard code == SQLITE_OK else {
            throw StoreError(.failed, path: connection.location.path, "SQLite cannot record the merge (code \(code))")
        }
    }

    /// False if the extension would convert texts, which alters invalid ones.
    static func keepsTexts(of connection: StoreConnection) throws -> Bool {
        try connection.value("PRAGMA encoding")?.text == "UTF-8"
    }

    deinit { if let session { sqlite3session_delete(session) } }

    package func note(_ row: UnkeyedRow) throws {
        noted[row.table, default: 0] += (row.after == nil ? 0 : 1) - (row.before == nil ? 0 : 1)
        try writer.write(row.isInPlace ? .update : .row, row)
    }

    package func keep(_ values: [SQLValue], from sources: [any LargeValueSource]) throws -> [RecordedValue] {
        try values.map { value in
            guard case .large(let large) = value else { return RecordedValue(value) }
            try writer.write(.value, UnsafeRawBufferPointer(start: nil, count: 0))
            try large.forEachPiece(from: sources) { try writer.write(.valueBytes, $0) }
            defer { keptValues += 1 }
            return RecordedValue(value, keptAs: keptValues)
        }
    }

    package func willWrite(_ table: String, _ key: Int64, overwriting columns: [String]?) throws {
        try referenced?
            .willWrite(table, key, overwriting: columns) { value in
                try keep([value], from: [connection])[0]
            }
    }

    package func unseen<R>(_ body: () throws -> R) rethrows -> R {
        sqlite3session_enable(session, 0)
        defer { sqlite3session_enable(session, 1) }
        return try body()
    }

    package func finish() throws {
        // For a table without recorded rows, only a changed number of rows can be detected.
        header.rows = try header.rows.filter { table, count in
            try Self.count(table, connection) != count + (noted[table] ?? 0)
        }
        for (field, number) in try Self.fields(connection) { header.fields?[field]?.append(number) }
        header.fields = header.fields?.filter { Set($0.value).count > 1 }
        header.created = try created()
        try writer.write(.header, header)
        var names = ExternalNames(among: files)
        try referenced?
            .finish(
                { bytes in
                    try bytes.withUnsafeBytes { bytes in
                        names.search(bytes)
                        try writer.write(.changes, bytes)
                    }
                },
                note: { try writer.write(.update, $0) }
            )
        let output = ChangesetOutput { bytes in
            names.search(bytes)
            try self.writer.write(.changes, bytes)
        }
        let code = withExtendedLifetime(output) {
            sqlite3session_changeset_strm(session, ChangesetOutput.callback, output.pointer)
        }
        if let error = output.error { throw error }
        guard code == SQLITE_OK else {
            throw StoreError(
                .failed,
                path: connection.location.path,
                "SQLite gave no record of the merge (code \(code))"
            )
        }
        for name in names.found.sorted() { try keep(name) }
        try writer.finish()
        sqlite3session_delete(session)
        session = nil
    }

    /// Copies a file that the merge replaces into the record; the file is removed after the commit.
    private func keep(_ name: String) throws {
        guard let externalData, try externalData.status(of: name) != nil else { return }
        let file = try externalData.openFile(name, for: .reading)
        try Array(name.utf8).withUnsafeBytes { try writer.write(.file, $0) }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { piece.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try file.read(into: piece, at: offset)
            if count > 0 { try writer.write(.fileBytes, UnsafeRawBufferPointer(rebasing: piece[..<count])) }
            offset += Int64(count)
            if count < piece.count { return }
        }
    }

    /// The definitions that the merge created, the last one first.
    private func created() throws -> [CreatedDefinition] {
        let schema = try StoreSchema(reading: connection)
        let order = ["trigger", "view", "index", "table"]
        return try StoreDefinitions(reading: connection).entries
            .filter { definitions.entries[$0.key] == nil && $0.value.sql != nil }.values
            .sorted { (order.firstIndex(of: $0.type) ?? 0, $0.name) < (order.firstIndex(of: $1.type) ?? 0, $1.name) }
            .map { entry in
                let table = entry.type == "table" ? schema.table(named: entry.name) : nil
                return CreatedDefinition(
                    type: entry.type,
                    name: entry.name,
                    definition: entry.digest,
                    rows: try table.map { try StoreDigest.digest(of: $0, in: connection).digest }
                )
            }
    }

    /// The header fields that an application may set.
    private static func fields(_ connection: StoreConnection) throws -> [String: Int64] {
        var fields: [String: Int64] = [:]
        for field in StoreDefinitions.headerFields {
            if case .integer(let number)? = try connection.value("PRAGMA " + field) { fields[field] = number }
        }
        return fields
    }

    private static func count(_ table: String, _ connection: StoreConnection) throws -> Int64 {
        try connection.value("SELECT count(*) FROM \(SQLName.quoted(table))")?.integer ?? 0
    }
}

/// Receives the pieces of a changeset from SQLite.
final class ChangesetOutput {
    private let body: (UnsafeRawBufferPointer) throws -> Void
    private(set) var error: (any Error)?

    init(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) { self.body = body }

    /// The context pointer for ``callback``; this object must outlive the call.
    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, Int32) -> Int32 = {
        context,
        bytes,
        count in
        guard let context else { return SQLITE_MISUSE }
        let output = Unmanaged<ChangesetOutput>.fromOpaque(context).takeUnretainedValue()
        do {
            try output.body(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)))
            return SQLITE_OK
        } catch {
            output.error = error
            return SQLITE_ABORT
        }
    }
}
