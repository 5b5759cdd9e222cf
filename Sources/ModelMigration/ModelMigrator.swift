package import SafeFiles
package import StoreAccess
import StoreFormat
import StoreWriting

/// Carries an inferred mapping out on a staged copy of a store, which no other process has open.
///
/// A table stays in its pages if columns are only added, renamed, or given a constant value; each other table that
/// changes is copied once, by a statement that streams. The whole migration is one transaction. Values are copied byte for byte, and primary keys stay.
package struct ModelMigrator {
    /// What a migration did.
    package struct Result: Hashable, Sendable {
        /// The tables whose rows were copied.
        package let copiedTables: [String]
        /// The tables whose rows stayed, and whose columns were added, renamed or filled.
        package let extendedTables: [String]
        /// The external files that no row refers to any more; remove them once the migration is published.
        package let orphanedFiles: [String]
        /// What the source had and the target has no place for.
        package let lostValues: [LostValues]
    }

    package let mapping: InferredMapping
    let target: MigrationTarget
    let connection: StoreConnection
    let external: Directory?
    let plan: MigrationPlan

    /// Prepares the migration of the store on `connection`; `external` is the folder of its external files.
    ///
    /// With `ignoringFence`, a fence is accepted: the copy that is migrated will have none. Throws ``MappingRefusals`` if
    /// no mapping can be inferred, and `StoreError` if the store's model is unknown.
    package init(
        _ connection: StoreConnection,
        to target: MigrationTarget,
        external: Directory? = nil,
        ignoringFence: Bool = false
    ) throws {
        if !ignoringFence { try StoreFence.requireNone(in: connection) }
        let source = try SourceStore(connection, target: target)
        mapping = try InferredMapping(from: source.model, to: target.model, checking: connection.checkCancellation)
        plan = try MigrationPlan(source, to: target, mapping)
        (self.target, self.connection, self.external) = (target, connection, external)
    }

    /// True if the store already has the target's entities and version hashes.
    package var isUpToDate: Bool {
        guard mapping.isIdentity, plan.keepsNumbers else { return false }
        return !target.hasGenuineHashes || plan.source.metadata.entityVersionHashes == target.entityVersionHashes
    }

    /// Throws ``MappingRefusals`` with every reason in the rows why the migration cannot be carried out; only reads.
    package func check() throws {
        var check = RowRequirements(plan, connection)
        let refusals = try check.run(external)
        guard refusals.isEmpty else { throw MappingRefusals(refusals) }
    }

    /// Checks the rows, then migrates in one transaction; if it throws, the store is unchanged.
    ///
    /// Unless `isRecorded`, persistent history gets no transaction for the migration; a copy that is only read needs none.
    package func migrate(
        process: String = "store-migrate",
        timestamp: Double? = nil,
        isRecorded: Bool = true
    ) throws -> Result {
        try check()
        try Self.prepare(connection)
        let result = try connection.inTransaction(until: Deadline(after: .seconds(20))) {
            try carryOut(process: process, timestamp: timestamp, isRecorded: isRecorded)
        }
        // Copied tables leave their former pages free; Core Data's stores return them to the file system.
        if try connection.value("PRAGMA auto_vacuum") == .integer(2) {
            try connection.execute("PRAGMA incremental_vacuum")
        }
        return result
    }

    /// Prepares a connection before the transaction of a migration.
    package static func prepare(_ connection: StoreConnection) throws {
        // Renaming a table must not examine triggers and views, which may need functions of the app.
        try connection.execute("PRAGMA legacy_alter_table = ON")
    }

    /// Migrates in the caller's transaction, after ``check()``.
    package func carryOut(
        process: String = "store-migrate",
        timestamp: Double? = nil,
        isRecorded: Bool = true
    ) throws -> Result {
        let files = ExternalReferences(connection)
        try files.record(in: plan.source.layout, as: .before)
        let lostValues = try lostValues()
        let inlining = ExternalInlining(plan, connection, external)
        try inlining.record()
        var rewriting = TableRewriting(plan, connection)
        try rewriting.run()
        try writeNumbers()
        try writeMetadata()
        let layout = try migratedLayout()
        try inlining.write()
        try DerivedValues(plan, layout, connection).write()
        let history = HistoryRewriting(plan, layout, connection)
        try history.run()
        if isRecorded { try history.record(process: process, timestamp: timestamp) }
        try files.record(in: layout, as: .after)
        return Result(
            copiedTables: rewriting.copied,
            extendedTables: rewriting.extended,
            orphanedFiles: try files.orphans().filter { try isFile($0) },
            lostValues: lostValues
        )
    }

    /// True for the name of a file in the folder of external files; a row may contain any name.
    private func isFile(_ name: String) throws -> Bool {
        guard Directory.isName(name) else { return false }
        return try external?.status(of: name)?.kind == .regular
    }

    /// The layout of the migrated tables; throws if they are not those of the target model.
    private func migratedLayout() throws -> StoreLayout {
        guard let layout = try StoreLayout(reading: connection, model: target.model), layout.unresolved.isEmpty else {
            throw StoreError(.failed, path: connection.location.path, "the migrated tables do not fit the model")
        }
        return layout
    }

    // MARK: Bookkeeping

    private func writeNumbers() throws {
        try connection.run("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT < 16000", [])
        for entry in plan.shape.entries(keeping: EntityNumbers([])) {
            var greatest: Int64 = 0
            if entry.parent == 0, let table = plan.layout.entities[entry.name]?.table,
                let former = plan.sourceTable(of: table),
                let root = plan.source.layout.entities(inTable: former).first?.root
            {
                greatest = plan.source.numbers.number(of: root).flatMap(plan.source.numbers.entry)?.max ?? 0
            }
            try connection.run(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)",
                [.integer(entry.number), .text(entry.name), .integer(entry.parent), .integer(greatest)]
            )
        }
    }

    private func writeMetadata() throws {
        let metadata = plan.source.metadata
        let fresh = MetadataWriter.metadata(
            for: target.model,
            uuid: metadata.uuid,
            versionHashes: target.hasGenuineHashes ? target.entityVersionHashes : [:]
        )
        var values = metadata.values
        values[MetadataWriter.syntheticHashesKey] = fresh.values[MetadataWriter.syntheticHashesKey]
        for key in ["NSStoreModelVersionHashes", "NSStoreModelVersionHashesVersion", "NSStoreModelVersionIdentifiers"] {
            values[key] = fresh.values[key]
        }
        // Older frameworks record neither, and would not update them later.
        for key in ["NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey"] where values[key] != nil {
            values[key] = fresh.values[key]
        }
        try connection.run(
            "UPDATE Z_METADATA SET Z_PLIST = ? WHERE Z_VERSION = (SELECT min(Z_VERSION) FROM Z_METADATA)",
            [.blob(PropertyListWriter.bytes(of: .dictionary(values)))]
        )
        try connection.execute("CREATE TABLE IF NOT EXISTS Z_MODELCACHE (Z_CONTENT BLOB); DELETE FROM Z_MODELCACHE;")
        let cache = try target.modelCache ?? ModelCacheWriter.bytes(of: target.model)
        try connection.run("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(cache)])
    }
}
