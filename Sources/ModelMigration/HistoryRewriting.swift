import StoreAccess
import StoreFormat
import StoreWriting

/// Adapts persistent history to the target model, as Core Data's own migration does (COREDATA §1.8).
///
/// Entity numbers, bitmaps and tombstones get the target's form; changes of removed entities are deleted, and one
/// transaction without changes records the migration.
struct HistoryRewriting {
    private let plan: MigrationPlan
    private let layout: StoreLayout
    private let connection: StoreConnection

    init(_ plan: MigrationPlan, _ layout: StoreLayout, _ connection: StoreConnection) {
        (self.plan, self.layout, self.connection) = (plan, layout, connection)
    }

    func run() throws {
        guard plan.source.schema.table(named: "ACHANGE") != nil else { return }
        let removed = plan.source.layout.entities.values.filter { plan.mapping.target(of: $0.name) == nil }
        for entity in removed {
            try connection.run("DELETE FROM ACHANGE WHERE ZENTITY = ?", [.integer(entity.number)])
        }
        try rewriteTombstones()
        try rewriteBitmaps()
        try renumber()
    }

    /// Adds the transaction that records the migration.
    func record(process: String, timestamp: Double?) throws {
        guard plan.source.schema.table(named: "ACHANGE") != nil,
            let history = try HistoryWriter(connection, layout: layout, schema: StoreSchema(reading: connection))
        else { return }
        let digest = plan.source.metadata.recordedModelDigest ?? plan.source.metadata.modelDigest
        try history.write(
            SaveChanges(),
            from: HistoryWriter.Origin(
                author: "com.apple.coredata.schemamigrator: lightweight migration from model with digest { \(digest) }",
                process: process,
                timestamp: timestamp
            )
        )
    }

    private var pairs: [(source: StoreLayout.Entity, target: StoreLayout.Entity)] {
        plan.mapping.entities.compactMap { entity in
            guard let former = entity.source.flatMap({ plan.source.layout.entities[$0] }),
                let target = layout.entities[entity.target]
            else { return nil }
            return (former, target)
        }
    }

    private func renumber() throws {
        let changed = pairs.map { ($0.source.number, $0.target.number) }.filter { $0 != $1 }
        guard !changed.isEmpty else { return }
        let cases = changed.map { "WHEN \($0) THEN \($1)" }.joined(separator: " ")
        let numbers = changed.map { String($0.0) }.joined(separator: ", ")
        try connection.run(
            "UPDATE ACHANGE SET ZENTITY = CASE ZENTITY \(cases) END WHERE ZENTITY IN (\(numbers))",
            []
        )
    }

    // MARK: Bitmaps

    private func rewriteBitmaps() throws {
        let changed = pairs.filter { $0.source.historySlots != $0.target.historySlots }
        guard !changed.isEmpty else { return }
        try connection.execute(
            "CREATE TEMP TABLE migration_bits (entity INTEGER, former BLOB, bits BLOB, PRIMARY KEY (entity, former))"
        )
        for pair in changed {
            try connection.run(
                "INSERT INTO migration_bits SELECT DISTINCT ZENTITY, ZCOLUMNS, NULL FROM ACHANGE "
                    + "WHERE ZENTITY = ? AND ZCOLUMNS NOT NULL",
                [.integer(pair.source.number)]
            )
            let names = names(of: pair.target.name)
            try connection.forEachRow(
                "SELECT rowid, former FROM migration_bits WHERE entity = ?",
                [.integer(pair.source.number)]
            ) { row in
                let former = row.withBytes(1) { [UInt8]($0) }
                let bits = bitmap(former, pair, names)
                try connection.run(
                    "UPDATE migration_bits SET bits = ? WHERE rowid = ?",
                    [.blob(bits), .integer(row.integer(0))]
                )
            }
        }
        let numbers = changed.map { String($0.source.number) }.joined(separator: ", ")
        try connection.run(
            "UPDATE ACHANGE SET ZCOLUMNS = (SELECT bits FROM migration_bits WHERE entity = ZENTITY AND former = ZCOLUMNS) "
                + "WHERE ZENTITY IN (\(numbers)) AND ZCOLUMNS NOT NULL",
            []
        )
        try connection.execute("DROP TABLE migration_bits")
    }

    /// The target's name of each property of the source.
    private func names(of entity: String) -> [String: String] {
        guard let mapping = plan.mapping.entity(entity) else { return [:] }
        let attributes = mapping.attributes.compactMap { pair in pair.source.map { ($0.name, pair.target.name) } }
        let relationships = mapping.relationships.compactMap { pair in pair.source.map { ($0.name, pair.target.name) } }
        return Dictionary(attributes + relationships, uniquingKeysWith: { first, _ in first })
    }

    /// A bitmap that cannot be decoded becomes one with every bit: a surplus bit is harmless.
    private func bitmap(
        _ former: [UInt8],
        _ pair: (source: StoreLayout.Entity, target: StoreLayout.Entity),
        _ names: [String: String]
    ) -> [UInt8] {
        guard let properties = pair.source.historySlots.properties(in: former) else {
            return pair.target.historySlots.bitmap(setting: Set(pair.target.historySlots.slots))
        }
        let changed = (properties.names + properties.possibleToMany).compactMap { names[$0] }
        return pair.target.historySlots.bitmap(of: Set(changed))
    }

    // MARK: Tombstones

    private func rewriteTombstones() throws {
        for pair in pairs where pair.source.tombstoneAttributes != pair.target.tombstoneAttributes {
            let schema = try StoreSchema(reading: connection)
            let changes = schema.table(named: "ACHANGE")
            let count = (0...4096).first { changes?.column(named: "ZTOMBSTONE\($0)") == nil } ?? 0
            let names = names(of: pair.target.name)
            let former = pair.source.tombstoneAttributes.map { names[$0] }
            var sources = pair.target.tombstoneAttributes.map { name in former.firstIndex(of: name) }
            for column in count..<max(count, sources.count) {
                try connection.execute("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(column) BLOB")
            }
            sources += Array(repeating: nil, count: max(0, count - sources.count))
            guard !sources.isEmpty else { continue }
            let values = sources.enumerated()
                .map { column, source in
                    "ZTOMBSTONE\(column) = " + (source.flatMap { $0 < count ? "ZTOMBSTONE\($0)" : nil } ?? "NULL")
                }
            try connection.run(
                "UPDATE ACHANGE SET \(values.joined(separator: ", ")) WHERE ZENTITY = ? AND ZCHANGETYPE = 2",
                [.integer(pair.source.number)]
            )
        }
    }
}
