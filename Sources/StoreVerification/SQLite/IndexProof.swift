internal import CSQLite
package import StoreFormat

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
