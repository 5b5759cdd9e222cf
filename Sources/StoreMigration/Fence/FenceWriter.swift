import SafeFiles
public import StoreFormat

extension Finding.Code {
    /// A table cannot refuse writers; late writes to it are found by the digest.
    public static let notFenced = Finding.Code(rawValue: "notFenced")
}

/// Sets and lifts the triggers that refuse writers of an old store.
///
/// Which tables take them was measured: on the wrong shadow table of a full-text index a trigger crashes the writer.
package struct FenceWriter {
    private static let events = ["insert", "update", "delete"]
    /// Core Data may write to these when it only opens a store.
    private static let unfenced: Set<String> = ["Z_METADATA", "Z_MODELCACHE"]

    private let connection: StoreConnection

    package init(_ connection: StoreConnection) {
        self.connection = connection
    }

    /// Sets the fence inside the transaction that `connection` holds, and returns what could not be fenced.
    package func set(transaction: String, newPath: String) throws -> [Finding] {
        if SeededBug.fenceLeftOut.isMade { return [] }
        let schema = try StoreSchema(reading: connection)
        let (targets, findings) = targets(in: schema)
        let message = "store moved to \(newPath) (store-migrate \(transaction))"
        for (number, target) in targets.enumerated() {
            for event in Self.events {
                let name = "\(StoreFence.prefix)\(transaction)_\(number)_\(event)"
                try connection.execute(
                    """
                    CREATE TRIGGER \(SQLName.quoted(name)) BEFORE \(event.uppercased()) ON \(SQLName.quoted(target.table)) \
                    BEGIN SELECT RAISE(\(target.isShadow ? "ROLLBACK" : "ABORT"), \(SQLName.literal(message))); END
                    """
                )
            }
        }
        return findings
    }

    /// Drops every trigger of a fence of ours inside the transaction that `connection` holds.
    package func lift() throws { try StoreFence.lift(in: connection) }

    /// A table that takes triggers.
    private struct Target {
        let table: String
        /// True when it belongs to a virtual table, which must not go on after a refusal: what its module keeps in memory
        /// is then ahead of its tables, and the next write crashes the process or damages the index.
        let isShadow: Bool
    }

    /// The tables that take triggers, and a finding for each that nothing can stand for.
    private func targets(in schema: StoreSchema) -> (targets: [Target], findings: [Finding]) {
        var targets: [Target] = []
        var findings: [Finding] = []
        let names = Set(schema.tables.map { $0.name.lowercased() })
        for table in schema.tables {
            switch table.kind {
            case .ordinary, .withoutRowID:
                let isUnfenced = Self.unfenced.contains(table.name.uppercased())
                guard !isUnfenced || SeededBug.metadataFenced.isMade else { continue }
                targets.append(Target(table: table.name, isShadow: false))
            case .virtual(let module):
                let shadows = shadowSuffixes(of: module).map { table.name + $0 }
                    .filter { names.contains($0.lowercased()) }
                targets += shadows.map { Target(table: $0, isShadow: true) }
                if shadows.isEmpty {
                    findings.append(
                        Finding(
                            .notFenced,
                            .info,
                            level: .files,
                            "a virtual table cannot be fenced; writes to it are found by its digest",
                            table: table.name
                        )
                    )
                }
            default:
                break
            }
        }
        return (targets, findings)
    }

    private func shadowSuffixes(of module: String) -> [String] {
        switch module.lowercased() {
        case "fts5": ["_content", "_docsize", "_idx"] + (SeededBug.shadowDataFenced.isMade ? ["_data"] : [])
        case "fts3", "fts4": ["_segdir"]
        case "rtree", "rtree_i32", "geopoly": ["_rowid", "_node"]
        default: []
        }
    }
}

extension FenceWriter {
    /// Drops the fence of the store at a place, in a transaction of its own.
    static func lift(from store: StoreLocation, lockTimeout: Duration) throws {
        let connection = try StoreConnection(store, access: .liveWriting, lockTimeout: lockTimeout)
        try connection.inTransaction(until: Deadline(after: lockTimeout)) { try FenceWriter(connection).lift() }
        try connection.close()
    }
}
