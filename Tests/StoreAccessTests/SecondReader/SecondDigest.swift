import StoreAccess

/// The digest of a store's content, computed from the bytes of its files: no row is read by SQLite.
///
/// The names and types of columns are those that SQLite states, given as a schema.
struct SecondDigest {
    let schema: String
    let tables: [StoreDigest.Table]
    let value: String

    init(_ pages: DatabasePages, _ schema: StoreSchema) throws {
        guard pages.textEncoding == 1 else { throw FormatError(description: "the text is not UTF-8") }
        let entries = try Self.entries(pages)
        self.schema = try Self.digest(of: entries, pages)
        tables = try schema.tables.filter(StoreDigest.covers)
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            .map { table in
                guard let root = entries.first(where: { $0.type == "table" && $0.name == table.name })?.root
                else {
                    throw FormatError(description: "no b-tree of table \(table.name)")
                }
                return try Self.digest(of: table, DatabaseTree(pages, root: root))
            }
        var whole = SecondHasher()
        whole.add(.text(Array(self.schema.utf8)))
        for table in tables {
            whole.add(.text(Array(table.name.utf8)))
            whole.add(.integer(table.rows))
            whole.add(.text(Array(table.digest.utf8)))
        }
        whole.add(.null)
        value = whole.hexadecimal
    }

    // MARK: Definitions

    private struct Entry {
        /// Type, name, table and statement.
        let values: [SQLStoredValue]
        let root: Int

        var type: String { text(0) }
        var name: String { text(1) }
        var table: String { text(2) }

        private func text(_ index: Int) -> String {
            guard case .text(let bytes) = values[index] else { return "" }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Byte by byte, as SQLite sorts.
        func precedes(_ other: Entry) -> Bool {
            type == other.type
                ? name.utf8.lexicographicallyPrecedes(other.name.utf8)
                : type.utf8.lexicographicallyPrecedes(other.type.utf8)
        }
    }

    private static func entries(_ pages: DatabasePages) throws -> [Entry] {
        var entries: [Entry] = []
        try DatabaseTree(pages, root: 1)
            .forEachRow { _, record in
                guard case .integer(let root)? = record.values[safe: 3] else { return }
                entries.append(Entry(values: [0, 1, 2, 4].map { record.values[safe: $0] ?? .null }, root: Int(root)))
            }
        return entries
    }

    /// Covers what counts as content: no statistics, no fence, no mark of a merge.
    private static func digest(of entries: [Entry], _ pages: DatabasePages) throws -> String {
        var hasher = SecondHasher()
        hasher.add(.text(Array("UTF-8".utf8)))
        hasher.add(.integer(pages.userVersion))
        hasher.add(.integer(pages.applicationID))
        for entry in entries.sorted(by: { $0.precedes($1) }) {
            let isFence = entry.type == "trigger" && entry.name.hasPrefix(StoreFence.prefix)
            guard !isFence, entry.table != StoreSchema.mergeEpochTable, !entry.name.hasPrefix("sqlite_stat"),
                entry.name != "sqlite_sequence"
            else { continue }
            for value in entry.values { hasher.add(value) }
        }
        return hasher.hexadecimal
    }

    // MARK: Rows

    private static func digest(of table: StoreSchema.Table, _ tree: DatabaseTree) throws -> StoreDigest.Table {
        let content = table.columns.filter { $0.generation != .virtual && $0.name != table.rowIDAlias }
        let names = (table.rowIDName.map { [$0] } ?? []) + content.map(\.name)
        var hasher = SecondHasher()
        hasher.add(.text(Array(table.name.utf8)))
        hasher.add(.integer(Int64(names.count)))
        for name in names { hasher.add(.text(Array(name.utf8))) }
        let places = places(in: table)
        let columns = try content.map { (place: places[$0.name] ?? 0, form: try StoredForm($0)) }
        var rows: Int64 = 0
        try tree.forEachRow { row, record in
            if table.rowIDName != nil { hasher.add(row.map { .integer($0) } ?? .null) }
            for column in columns { hasher.add(column.form.value(record.values[safe: column.place])) }
            rows += 1
        }
        hasher.add(.integer(rows))
        return StoreDigest.Table(name: table.name, rows: rows, digest: hasher.hexadecimal)
    }

    /// The place of each column in a record: without a rowid, those of the primary key come first.
    private static func places(in table: StoreSchema.Table) -> [String: Int] {
        let stored = table.columns.filter { $0.generation != .virtual }
        let order = table.isWithoutRowID ? table.primaryKey + stored.filter { $0.primaryKeyPosition == 0 } : stored
        return Dictionary(uniqueKeysWithValues: order.enumerated().map { ($0.element.name, $0.offset) })
    }
}

/// How a stored value reads: a column added later has a default in older rows, and an integer in a column of reals is a
/// real.
///
/// Source: "Datatypes In SQLite", section 3.1, and "ALTER TABLE ADD COLUMN".
private struct StoredForm {
    private enum Affinity { case text, numeric, real, blob }

    private let affinity: Affinity
    private let missing: SQLStoredValue

    init(_ column: StoreSchema.Column) throws {
        let type = column.declaredType.uppercased()
        affinity =
            if type.contains("INT") {
                .numeric
            } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
                .text
            } else if type.isEmpty || type.contains("BLOB") {
                .blob
            } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
                .real
            } else {
                .numeric
            }
        missing = try Self.literal(column.defaultValue, affinity)
    }

    func value(_ stored: SQLStoredValue?) -> SQLStoredValue {
        guard let stored else { return missing }
        guard affinity == .real, case .integer(let number) = stored else { return stored }
        return .real(Double(number))
    }

    private static func literal(_ text: String?, _ affinity: Affinity) throws -> SQLStoredValue {
        guard let text, text.uppercased() != "NULL" else { return .null }
        if text.hasPrefix("'"), text.hasSuffix("'") {
            let content = String(text.dropFirst().dropLast()).split(separator: "''", omittingEmptySubsequences: false)
                .joined(separator: "'")
            guard affinity == .numeric || affinity == .real, let number = number(content, affinity) else {
                return .text(Array(content.utf8))
            }
            return number
        }
        guard let number = number(text, affinity) else { throw FormatError(description: "the default \(text)") }
        return affinity == .text ? .text(Array(text.utf8)) : number
    }

    private static func number(_ text: String, _ affinity: Affinity) -> SQLStoredValue? {
        if let integer = Int64(text) { return affinity == .real ? .real(Double(integer)) : .integer(integer) }
        return Double(text).map { .real($0) }
    }
}

/// SHA-256 over values, each with its length and class.
private struct SecondHasher {
    private var hash = SHA256()

    mutating func add(_ value: SQLStoredValue) {
        let (number, bytes): (UInt64, [UInt8]) =
            switch value {
            case .integer(let integer): (1, Self.bytes(of: integer))
            case .real(let real): (2, (0..<8).map { UInt8(truncatingIfNeeded: real.bitPattern >> ($0 * 8)) })
            case .text(let text): (3, text)
            case .blob(let blob): (4, blob)
            case .null: (5, [])
            }
        var head: [UInt8] = []
        var rest = UInt64(bytes.count) << 3 | number
        while rest >= 128 {
            head.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        hash.update(head + [UInt8(rest)])
        hash.update(bytes)
    }

    var hexadecimal: String { hash.hexadecimal }

    /// The fewest bytes in two's complement, the least significant first; none for zero.
    private static func bytes(of integer: Int64) -> [UInt8] {
        guard integer != 0 else { return [] }
        var bytes: [UInt8] = []
        var rest = integer
        repeat {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        } while !(rest == 0 && bytes[bytes.count - 1] < 128) && !(rest == -1 && bytes[bytes.count - 1] >= 128)
        return bytes
    }
}

extension Array {
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
