import Foundation
import SafeFiles

/// The content of a store, read with SQLite alone from a copy of its files, so that reading changes nothing.
struct StoreContent: Sendable {
    /// One row with a token.
    struct Row: Sendable, Equatable {
        let table: String
        let token: String
        /// The values of the primary key; nil where the table has none, or one of them is NULL.
        let key: [String]?
        let hasIntegerKey: Bool
        /// Every value except the token and the key, typed, by column.
        let values: [String: String]
        /// The tokens of the rows that it refers to, by column.
        var links: [String: String] = [:]
    }

    private(set) var rows: [String: [Row]] = [:]
    /// A digest of the schema and of every row, without the tool's own tables.
    private(set) var digest = 0
    /// SQLite's message to an app whose write the store refuses.
    private(set) var refusal: String?

    var tokens: Set<String> { Set(rows.keys) }

    /// Reads the store; nil where there is none, or only the empty database that an app creates when it opens a path
    /// whose store was moved.
    ///
    /// Throws when SQLite cannot read the file.
    static func read(_ path: String, probe: String?, in scratch: String) throws -> StoreContent? {
        let temporary = try TemporaryDirectory(prefix: "walk-copy", in: scratch)
        let copy = temporary.directory.path + "/store"
        for suffix in ["", "-wal", "-journal"] {
            guard let bytes = FileManager.default.contents(atPath: path + suffix) else {
                if suffix.isEmpty { return nil }
                continue
            }
            guard FileManager.default.createFile(atPath: copy + suffix, contents: bytes) else {
                throw CocoaError(.fileWriteUnknown)
            }
        }
        let store = try PlainStore(copy)
        guard try store.rows("SELECT 1 FROM sqlite_schema LIMIT 1") != [] else { return nil }
        return try StoreContent(store, probe: probe)
    }

    init(_ store: PlainStore, probe: String?) throws {
        var hasher = Hasher()
        let own = "name NOT GLOB '_store_migrate*'"
        hasher.combine(try store.rows("SELECT type, name, sql FROM sqlite_schema WHERE \(own) ORDER BY 1, 2"))
        for pragma in ["user_version", "application_id"] { hasher.combine(try store.rows("PRAGMA \(pragma)")) }
        let tables = try store.rows(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') "
                + "AND name NOT GLOB 'sqlite_*' AND \(own) ORDER BY 1"
        )
        for table in tables.compactMap(StoredText.decode) { try read(table, of: store, &hasher) }
        digest = hasher.finalize()
        follow("parent", from: "child", to: "parent")
        follow("ZHABIT", from: "ZENTRY", to: "ZHABIT")
        guard let probe else { return }
        do { try store.execute("BEGIN; \(probe); ROLLBACK") } catch let failure as PlainStore.Failure {
            refusal = failure.description
        }
    }

    /// Records the rows of one table that the rows of another refer to.
    private mutating func follow(_ column: String, from table: String, to target: String) {
        var tokens: [String: String] = [:]
        for row in rows.values.joined() where row.table == target {
            if let key = row.key?.first { tokens[key] = row.token }
        }
        for (token, found) in rows where found.contains(where: { $0.table == table }) {
            rows[token] = found.map { row in
                var row = row
                if row.table == table, let key = row.values[column] { row.links[column] = tokens[key] }
                return row
            }
        }
    }

    private mutating func read(_ table: String, of store: PlainStore, _ hasher: inout Hasher) throws {
        let quoted = "\"\(table)\""
        // Hidden columns of virtual tables are 1, generated ones 2 and 3.
        // FTS5 identifies a row by its number, which it reuses, as a table does with an integer key.
        let number = table == "words" ? " UNION ALL SELECT 'rowid', 1, 'INTEGER'" : ""
        let columns =
            try store.rows(
                "SELECT name, pk, type FROM pragma_table_xinfo('\(table)') WHERE hidden <> 1" + number
            )
            .map(StoredText.values)
        let names = columns.compactMap { StoredText.decode($0[0]) }
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        let lines = try store.rows("SELECT \(list) FROM \(quoted)").sorted()
        hasher.combine(table)
        hasher.combine(lines)
        // Core Data has columns of that name in its own tables as well.
        let isObject = ["ZHABIT", "ZENTRY"].contains(table)
        guard let tokenColumn = names.firstIndex(of: isObject ? "ZNAME" : "token") else { return }
        let key = columns.indices.filter { columns[$0][1] != "i0" }
        let isInteger = key.count == 1 && StoredText.decode(columns[key[0]][2]) == "INTEGER"
        let free = names.indices.filter { $0 != tokenColumn && !key.contains($0) }
        for line in lines {
            let values = StoredText.values(line)
            guard values.count == names.count, let token = StoredText.decode(values[tokenColumn]) else { continue }
            let keyValues = key.map { values[$0] }
            let row = Row(
                table: table,
                token: token,
                key: key.isEmpty || keyValues.contains("n") ? nil : keyValues,
                hasIntegerKey: isInteger,
                values: Dictionary(uniqueKeysWithValues: free.map { (names[$0], values[$0]) })
            )
            rows[token, default: []].append(row)
        }
    }
}

extension StoreContent.Row {
    /// Reads a line of a file of parked rows, of a table whose keys are integers or not; nil where it has no token.
    init?(parked line: Data, hasIntegerKey: (_ table: String) -> Bool) {
        guard let row = try? JSONSerialization.jsonObject(with: line) as? [String: Any],
            let table = row["entity"] as? String, let key = row["key"] as? [[String: Any]],
            let members = row["values"] as? [String: [String: Any]],
            let token = members["token"].flatMap(Self.stored).flatMap(StoredText.decode)
        else { return nil }
        let keyValues = key.compactMap(Self.stored)
        self.init(
            table: table,
            token: token,
            key: keyValues.isEmpty || keyValues.count < key.count ? nil : keyValues,
            hasIntegerKey: hasIntegerKey(table),
            values: members.filter { $0.key != "token" }.compactMapValues(Self.stored)
        )
    }

    /// A value as `PlainStore` writes it.
    private static func stored(_ value: [String: Any]) -> String? {
        func member(_ kind: String) -> Any? { (value[kind] as? [String: Any])?["_0"] }
        if value["null"] != nil { return "n" }
        if let number = member("integer") as? Int { return "i\(number)" }
        if let number = member("real") as? Double { return "r\(number.bitPattern)" }
        if let name = member("real") as? String { return Double(name).map { "r\($0.bitPattern)" } }
        if let text = member("text") as? String { return "t" + StoredText.digits(text.utf8) }
        if let bytes = (member("text") as? [String: String])?["utf8"] {
            // Invalid Unicode, two digits a byte.
            let digits = Array(bytes)
            return "t"
                + StoredText.digits(
                    stride(from: 0, to: digits.count - 1, by: 2)
                        .compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
                )
        }
        return (member("bytes") as? String).flatMap { Data(base64Encoded: $0) }.map { "b" + StoredText.digits($0) }
    }
}

/// Texts as `PlainStore` writes them: the letter t, then the bytes in hexadecimal.
///
/// They are ASCII, and are read as such: the characters of Swift's strings take several times as long.
enum StoredText {
    static func digits(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0, radix: 16) }.joined(separator: ",")
    }

    static func decode(_ value: String) -> String? {
        guard value.utf8.first == UInt8(ascii: "t") else { return nil }
        let digits = value.utf8.dropFirst().split(separator: UInt8(ascii: ","))
        let bytes = digits.compactMap { UInt8(Substring($0), radix: 16) }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The values of a row.
    static func values(_ line: String) -> [String] {
        line.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }
}
