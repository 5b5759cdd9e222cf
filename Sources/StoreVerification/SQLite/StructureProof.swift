import StoreFormat

/// The proof of SQLite's own structure: pages and records, every index, and the trees inside virtual tables.
struct StructureProof {
    private let connection: StoreConnection
    private let monitor: WorkMonitor

    init(_ connection: StoreConnection, monitor: WorkMonitor) {
        self.connection = connection
        self.monitor = monitor
    }

    func findings() throws -> [Finding] {
        try monitor.checkCancellation()
        var findings = try IntegrityCheck(connection).quickFindings()
        // On damaged pages a scan proves nothing.
        if findings.contains(where: { $0.code == .pageDamage }) { return findings }
        let schema = try StoreSchema(reading: connection)
        let progress = ProofProgress(monitor)
        let encoding = try connection.value("PRAGMA encoding")?.text ?? ""
        for table in schema.tables where !table.indexes.isEmpty {
            progress.expect(try rowsExpected(in: table))
        }
        let proof = IndexProof(connection, progress: progress)
        for table in schema.tables {
            if case .virtual(let module) = table.kind {
                findings += try VirtualTableCheck(connection).findings(of: table.name, module: module)
            } else if encoding != "UTF-8", !table.indexes.isEmpty {
                // The comparisons of the scan are those of UTF-8.
                findings += try IntegrityCheck(connection).findings(of: table.name)
            } else {
                findings += try proof.findings(of: table)
            }
        }
        return findings
    }

    /// The greatest row number stands in for the number of rows: asking for it costs three pages, not a scan.
    private func rowsExpected(in table: StoreSchema.Table) throws -> Int64 {
        guard let plan = IndexProofPlan(table) else { return 0 }
        let rows = try connection.value(plan.greatestRowNumber)?.integer ?? 0
        return rows.multipliedReportingOverflow(by: Int64(1 + table.indexes.count)).partialValue
    }
}
