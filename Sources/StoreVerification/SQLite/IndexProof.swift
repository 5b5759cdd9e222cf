internal import CSQLite
package import StoreAccess

/// Proves that every index of a table contains exactly the table's keys, in the right order.
///
/// It scans the table and each index once, and compares them by a keyed hash that does not depend on order; neighbours in
/// an index are compared by the index's own rules. It finds what `integrity_check` finds in a fraction of the time, and
/// also a key that equals its column only under a collation. Tables with unsupported indexes get an `integrity_check`.
struct IndexProof {
    private let connection: StoreConnection
    private let progress: ProofProgress
    private let hash = KeyedHash()

    init(_ connection: StoreConnection, progress: ProofProgress) {
        self.connection = connection
        self.progress = progress
    }

    /// Proves all indexes of one table.
    func findings(of table: StoreSchema.Table) throws -> [Finding] {
        guard !table.indexes.isEmpty else { return [] }
        guard let plan = plan(for: table) else {
            return try IntegrityCheck(connection).findings(of: table.name)
        }
        var findings: [Finding] = []
        var expected = TableFingerprint(plan.shapes, hash: hash)
        var counter = ProofProgress.Counter(progress)
        do {
            try scan(plan.tableScan(expected.columns)) { statement in
                expected.absorb(statement, firstColumn: 1, row: sqlite3_column_int64(statement, 0))
                try counter.advance()
            }
        } catch let error as StoreError where error.code == .damaged {
            return [Finding(.pageDamage, .error, level: .sqlite, .unreadableTable, table: plan.table)]
        }
        for (shape, entries) in zip(plan.shapes, expected.entries) {
            findings += try self.findings(of: shape, in: plan, expected: entries)
        }
        guard !findings.isEmpty else { return [] }
        // SQLite's own check names the rows; it runs only after a finding.
        return findings + (try IntegrityCheck(connection).findings(of: table.name))
    }

    /// Nil when a scan cannot prove the table or one of its indexes.
    private func plan(for table: StoreSchema.Table) -> IndexProofPlan? {
        guard let plan = IndexProofPlan(table) else { return nil }
        return connection.withHandle { handle in
            let path = connection.location.path
            guard Scan(plan.tableScan(TableFingerprint(plan.shapes, hash: hash).columns), on: handle, path: path) != nil
            else { return nil }
            let readsIndexAlone = plan.shapes.allSatisfy { shape in
                Scan("EXPLAIN " + plan.indexScan(shape), on: handle, path: path)?.readsOneIndexAlone ?? false
            }
            return readsIndexAlone ? plan : nil
        }
    }

    @inline(__always)
    private func scan(_ sql: String, _ body: (OpaquePointer) throws -> Void) throws {
        let path = connection.location.path
        try connection.withHandle { handle in
            guard let scan = Scan(sql, on: handle, path: path) else {
                throw StoreError(.failed, path: path, "a table that was scanned before cannot be scanned any more")
            }
            try scan.forEachRow(body)
        }
    }

    private func findings(
        of shape: IndexShape,
        in plan: IndexProofPlan,
        expected: MultisetHash
    ) throws -> [Finding] {
        var actual = IndexFingerprint(shape, hash: hash)
        var counter = ProofProgress.Counter(progress)
        do {
            try scan(plan.indexScan(shape)) { statement in
                actual.absorb(statement)
                try counter.advance()
            }
        } catch let error as StoreError where error.code == .damaged {
            return [Finding(.pageDamage, .error, level: .sqlite, .unreadableIndex(shape.name), table: plan.table)]
        }
        var findings: [Finding] = []
        if actual.entries.count != expected.count {
            findings.append(
                Finding(
                    .indexDiffers,
                    .error,
                    level: .sqlite,
                    .wrongCount(shape.name, entries: actual.entries.count, rows: expected.count),
                    table: plan.table
                )
            )
        } else if actual.entries != expected {
            findings.append(
                Finding(.indexDiffers, .error, level: .sqlite, .otherEntries(shape.name), table: plan.table)
            )
        }
        if let row = actual.disorderedRow {
            findings.append(
                Finding(
                    .indexOutOfOrder,
                    .error,
                    level: .sqlite,
                    .outOfOrder(shape.name),
                    table: plan.table,
                    key: row
                )
            )
        }
        if let row = actual.repeatedRow {
            findings.append(
                Finding(
                    .uniqueIndexRepeatsKey,
                    .error,
                    level: .sqlite,
                    .repeatedKey(shape.name),
                    table: plan.table,
                    key: row
                )
            )
        }
        return findings
    }
}

extension Finding.Code {
    /// An index does not match its table.
    package static let indexDiffers = Self(rawValue: "indexDiffers")
    /// The entries of an index are not in their order.
    package static let indexOutOfOrder = Self(rawValue: "indexOutOfOrder")
    /// A unique index contains a key twice.
    package static let uniqueIndexRepeatsKey = Self(rawValue: "uniqueIndexRepeatsKey")
}

extension String {
    fileprivate static let unreadableTable = "the table cannot be read to its end: the database is damaged"

    fileprivate static func unreadableIndex(_ index: String) -> Self {
        "index \(index) cannot be read to its end: the database is damaged"
    }

    /// Without the numbers, which differ between a store and its copy when other processes write meanwhile.
    fileprivate static func wrongCount(_ index: String, entries: Int64, rows: Int64) -> Self {
        "index \(index) has \(entries < rows ? "fewer" : "more") entries than its table has rows for it"
    }

    fileprivate static func otherEntries(_ index: String) -> Self {
        "index \(index) has other keys than its table"
    }

    fileprivate static func outOfOrder(_ index: String) -> Self {
        "index \(index) is out of order"
    }

    fileprivate static func repeatedKey(_ index: String) -> Self {
        "unique index \(index) has a key twice"
    }
}

/// The statements that scan one table and its indexes.
struct IndexProofPlan {
    let table: String
    let shapes: [IndexShape]
    /// A name of the row's number, quoted.
    private let rowID: String

    /// Nil when the table or one of its indexes needs SQLite's own check.
    init?(_ table: StoreSchema.Table) {
        guard let rowID = table.rowIDName else { return nil }
        var shapes: [IndexShape] = []
        for index in table.indexes {
            guard let shape = IndexShape(index, of: table) else { return nil }
            shapes.append(shape)
        }
        self.table = table.name
        self.shapes = shapes
        self.rowID = SQLName.quoted(rowID)
    }

    var greatestRowNumber: String { "SELECT max(\(rowID)) FROM \(SQLName.quoted(table)) NOT INDEXED" }

    /// Reads the number of every row and the given expressions from the table itself.
    func tableScan(_ columns: [String]) -> String {
        "SELECT " + ([rowID] + columns).joined(separator: ", ") + " FROM \(SQLName.quoted(table)) NOT INDEXED"
    }

    /// Reads the row's number and the key of every entry from the index itself, in its order.
    func indexScan(_ shape: IndexShape) -> String {
        let columns = [rowID] + shape.columns.map { SQLName.quoted($0.name) }
        let condition = shape.condition.map { " WHERE \($0)" } ?? ""
        return "SELECT " + columns.joined(separator: ", ")
            + " FROM \(SQLName.quoted(table)) INDEXED BY \(SQLName.quoted(shape.name))" + condition
    }
}

/// The definition of one index for the index proof: its key columns, their order, and the rows that it contains.
struct IndexShape {
    /// How SQLite compares text in one column of an index.
    enum Collation {
        case binary
        case noCase
        case rightTrim

        init?(named name: String) {
            switch name.uppercased() {
            case "BINARY": self = .binary
            case "NOCASE": self = .noCase
            case "RTRIM": self = .rightTrim
            default: return nil
            }
        }
    }

    /// One column of the key.
    struct KeyColumn {
        let name: String
        let isDescending: Bool
        let collation: Collation
    }

    let name: String
    let isUnique: Bool
    let columns: [KeyColumn]
    /// The condition of a partial index, as SQL; nil for an index of every row.
    let condition: String?

    /// Nil when a scan cannot prove the index: it then needs SQLite's own check.
    init?(_ index: StoreSchema.Index, of table: StoreSchema.Table) {
        var columns: [KeyColumn] = []
        for column in index.columns {
            guard let name = column.name, name != table.rowIDAlias,
                let collation = Collation(named: column.collation),
                let declared = table.column(named: name), !declared.isGenerated
            else { return nil }
            columns.append(KeyColumn(name: name, isDescending: column.isDescending, collation: collation))
        }
        guard !columns.isEmpty else { return nil }
        if index.isPartial {
            guard let condition = index.sql.flatMap(PartialIndexCondition.init(of:)) else { return nil }
            self.condition = condition.sql
        } else {
            condition = nil
        }
        name = index.name
        isUnique = index.isUnique
        self.columns = columns
    }
}

/// The condition after `WHERE` in a `CREATE INDEX` statement.
struct PartialIndexCondition {
    let sql: String

    /// Nil when there is no condition, or when comments make it unclear where it ends.
    init?(of statement: String) {
        let bytes = Array(statement.utf8)
        guard let start = Self.startOfCondition(in: bytes) else { return nil }
        let condition = bytes[start...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        guard !condition.isEmpty else { return nil }
        sql = String(decoding: condition, as: UTF8.self)
    }

    /// The offset behind the keyword `WHERE` outside parentheses, quotes and names.
    private static func startOfCondition(in bytes: [UInt8]) -> Int? {
        var depth = 0
        var offset = 0
        var found: Int?
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
                guard let end = bytes[(offset + 1)...].firstIndex(of: byte) else { return nil }
                offset = end + 1
            case UInt8(ascii: "["):
                guard let end = bytes[offset...].firstIndex(of: UInt8(ascii: "]")) else { return nil }
                offset = end + 1
            case UInt8(ascii: "-") where offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "-"),
                UInt8(ascii: "/") where offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "*"):
                return nil
            case UInt8(ascii: "("):
                depth += 1
                offset += 1
            case UInt8(ascii: ")"):
                depth -= 1
                offset += 1
            case _ where isIdentifier(byte):
                let end = bytes[offset...].firstIndex { !isIdentifier($0) } ?? bytes.endIndex
                let word = String(decoding: bytes[offset..<end], as: UTF8.self)
                if depth == 0, found == nil, word.uppercased() == "WHERE" { found = end }
                offset = end
            default:
                offset += 1
            }
        }
        return depth == 0 ? found : nil
    }

    private static func isIdentifier(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
