import StoreAccess

/// Proves SQLite's own structure: pages and records, every index, and the trees of virtual tables.
struct StructureProof {
    /// A part that is proved separately.
    private enum Piece: Sendable {
        case pages
        case table(StoreSchema.Table)
    }

    private let connection: StoreConnection
    private let monitor: WorkMonitor

    init(_ connection: StoreConnection, monitor: WorkMonitor) {
        self.connection = connection
        self.monitor = monitor
    }

    func findings() throws -> [Finding] {
        let monitor = monitor
        try monitor.checkCancellation()
        do {
            let schema = try StoreSchema(reading: connection)
            let sizes = try schema.tables.map { ($0, try rowsExpected(in: $0)) }.sorted { $0.1 > $1.1 }
            let progress = ProofProgress(monitor, total: sizes.reduce(0) { $0 &+ $1.1 })
            let encoding = try connection.value("PRAGMA encoding")?.text ?? ""
            let pieces = [.pages] + sizes.map { Piece.table($0.0) }
            let results = try ParallelReading(connection)
                .map(pieces) {
                    StructureProof($0, monitor: monitor)
                } _: { piece, proof in
                    switch piece {
                    case .pages: try IntegrityCheck(proof.connection).quickFindings()
                    case .table(let table): try proof.findings(of: table, encoding: encoding, progress)
                    }
                }
            let damage = results.first ?? []
            // On damaged pages a scan proves nothing.
            if damage.contains(where: { $0.code == .pageDamage }) { return damage }
            // A table that needs a missing definition stops the check of the pages and that of its indexes.
            return damage + results.dropFirst().flatMap { $0 }.filter { !damage.contains($0) }
        } catch let error as StoreError where error.code == .damaged {
            let damage = try IntegrityCheck(connection).quickFindings()
            return damage.isEmpty ? [Finding(.pageDamage, .error, level: .sqlite, error.message)] : damage
        }
    }

    private func findings(
        of table: StoreSchema.Table,
        encoding: String,
        _ progress: ProofProgress
    ) throws -> [Finding] {
        if case .virtual(let module) = table.kind {
            return try VirtualTableCheck(connection).findings(of: table.name, module: module)
        }
        guard encoding == "UTF-8" || table.indexes.isEmpty else {
            // The scan compares text as UTF-8.
            return try IntegrityCheck(connection).findings(of: table.name)
        }
        return try IndexProof(connection, progress: progress).findings(of: table)
    }

    /// The greatest row number, an estimate of the number of rows that reads three pages instead of the whole table.
    private func rowsExpected(in table: StoreSchema.Table) throws -> Int64 {
        guard !table.indexes.isEmpty, let plan = IndexProofPlan(table) else { return 0 }
        let rows = max(0, try connection.value(plan.greatestRowNumber)?.integer ?? 0)
        return min(rows, 1 << 40) * Int64(1 + table.indexes.count)
    }
}
