import SafeFiles
public import StoreAccess

extension Finding.Code {
    /// A table cannot be fenced; its digest reveals late writes.
    public static let notFenced = Finding.Code(rawValue: "notFenced")
}

/// Sets and removes the fence: triggers that refuse writers of an old store.
///
/// The set of tables was found by measurement: a trigger on the wrong shadow table of a full-text index crashes the
/// writer.
package struct FenceWriter {
    private static let events = ["insert", "update", "delete"]
    /// Core Data may write to these tables when it only opens a store.
    private static let unfenced: Set<String> = ["Z_METADATA", "Z_MODELCACHE"]

    private let connection: StoreConnection

    package init(_ connection: StoreConnection) {
        self.connection = connection
    }

    /// Sets the fence inside the transaction that `connection` holds, and returns a finding for each table that cannot
    /// be fenced.
    package func set(transaction: String, newPath: String) throws -> [Finding] {
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

    /// Drops every trigger of the fence inside the transaction that `connection` holds.
    package func lift() throws { try StoreFence.lift(in: connection) }

    /// A table that gets triggers.
    private struct Target {
        let table: String
        /// True for a shadow table of a virtual table.
        ///
        /// After a refusal the transaction must roll back: otherwise the module's memory is ahead of its tables, and
        /// the next write crashes the process or damages the index.
        let isShadow: Bool
    }

    /// The tables that get triggers, and a finding for each virtual table without a table that can.
    private func targets(in schema: StoreSchema) -> (targets: [Target], findings: [Finding]) {
        var targets: [Target] = []
        var findings: [Finding] = []
        let names = Set(schema.tables.map { $0.name.lowercased() })
        for table in schema.tables {
            switch table.kind {
            case .ordinary, .withoutRowID:
                guard !Self.unfenced.contains(table.name.uppercased()) else { continue }
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
                            "a virtual table cannot be fenced; its digest reveals late writes",
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
        case "fts5": ["_content", "_docsize", "_idx"]
        case "fts3", "fts4": ["_segdir"]
        case "rtree", "rtree_i32", "geopoly": ["_rowid", "_node"]
        default: []
        }
    }
}

extension FenceWriter {
    /// Removes the fence of `store`, in its own transaction.
    static func lift(from store: StoreLocation, lockTimeout: Duration) throws {
        let connection = try StoreConnection(store, access: .liveWriting, lockTimeout: lockTimeout)
        try connection.inTransaction(until: Deadline(after: lockTimeout)) { try FenceWriter(connection).lift() }
        try connection.close()
    }
}

/// Removes an old store's fence because the store it was shared to is missing.
struct FenceLifting {
    private let context: RunContext

    init(_ context: RunContext) {
        self.context = context
    }

    func lift(_ journal: inout MigrationJournal) throws {
        try FenceWriter.lift(from: context.old, lockTimeout: context.surroundings.lockTimeout)
        try journal.append(.unfenced)
    }
}
