import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification
import StoreWriting
import TestSupport
import Testing

/// Genuine stores, migrated to the version of another genuine store, or to a genuine model.
@Suite("Migrating genuine stores", .genuineStores)
struct GenuineMigrationTests {
    @Test("The migrated store has the target's form, keeps every value, and is sound", arguments: GenuinePair.all)
    func migrating(_ pair: GenuinePair) throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(pair.source, into: scratch)
        let oddities = try Set(StoreVerifier().verify(location, level: .coredata).findings.map(\.code))
        let target = try Self.target(pair)
        let connection = try StoreConnection(location, access: .privateCopy)
        let migrator: ModelMigrator
        do {
            migrator = try ModelMigrator(connection, to: target)
        } catch let error as MappingRefusals {
            return try Self.expectReasons(error, connection, scratch, pair)
        }
        let former = try #require(try StoreMetadata(reading: connection))
        let sourceLayout = try #require(try StoreLayout(reading: connection, model: migrator.mapping.source))
        let before = try StoreContent(connection, sourceLayout)
        _ = try migrator.migrate()

        let layout = try #require(try StoreLayout(reading: connection))
        #expect(layout.unresolved.isEmpty)
        #expect(layout.model == target.model)
        try Self.compare(before, try StoreContent(connection, layout), migrator.mapping)
        let metadata = try #require(try StoreMetadata(reading: connection))
        #expect(metadata.uuid == former.uuid)
        #expect(Set(metadata.entityVersionHashes.keys) == Set(target.model.entitiesByName.keys))
        if target.hasGenuineHashes { #expect(metadata.entityVersionHashes == target.entityVersionHashes) }
        #expect((metadata.values[MetadataWriter.syntheticHashesKey] == nil) == target.hasGenuineHashes)
        if pair.isStore { try Self.compareForm(connection, pair) }
        #expect(try ModelMigrator(connection, to: target).isUpToDate)
        try connection.close()
        let findings = try StoreVerifier().verify(location, level: .coredata).findings
            .filter { !oddities.contains($0.code) }
        #expect(findings.isEmpty, "\(findings.map { "\($0.code) \($0.message)" })")
    }

    @Test("The corpus has pairs of stores, and of stores and models, and most of them migrate")
    func pairs() throws {
        let models = GenuinePair.all.filter { !$0.isStore }
        #expect(GenuinePair.all.count > models.count)
        #expect(models.contains { $0.version != nil })
        #expect(Set(GenuinePair.all.map(\.source)).count > 5)
        let migrated = try GenuinePair.all.filter { pair in
            let target = try Self.target(pair)
            return try Corpus.withCopy(pair.source) { (try? ModelMigrator($0, to: target)) != nil }
        }
        #expect(2 * migrated.count > GenuinePair.all.count)
        #expect(migrated.count { $0.isStore } > 7)
    }

    /// A refused pair has a reason for each refusal, and its store stays byte for byte.
    private static func expectReasons(
        _ error: MappingRefusals,
        _ connection: StoreConnection,
        _ scratch: ScratchFolder,
        _ pair: GenuinePair
    ) throws {
        for refusal in error.refusals {
            #expect(!refusal.reason.isEmpty && !refusal.remedy.isEmpty)
            #expect(refusal.rule == .olderVersion || refusal.rule.coreDataErrorCode != nil)
        }
        try connection.close()
        let genuine = Corpus.location(of: pair.source)
        // Closing a connection moves the log into the main file.
        guard try Directory.open(path: genuine.folder).status(of: genuine.name + "-wal") == nil else { return }
        #expect(
            try scratch.bytes(genuine.name)
                == Directory.open(path: genuine.folder).contents(of: genuine.name, limit: 1 << 30)
        )
    }

    private static func target(_ pair: GenuinePair) throws -> MigrationTarget {
        let scratch = try ScratchFolder()
        return try withExtendedLifetime(scratch) {
            try MigrationTarget(path: pair.targetPath(in: scratch), version: pair.version)
        }
    }

    private static func compare(_ before: StoreContent, _ after: StoreContent, _ mapping: InferredMapping) throws {
        for entity in mapping.entities {
            guard let source = entity.source else { continue }
            #expect(after.values[entity.target]?["Z_OPT"] == before.values[source]?["Z_OPT"])
            for attribute in entity.attributes {
                guard let former = attribute.source else { continue }
                #expect(after.values[entity.target]?[attribute.target.name] == before.values[source]?[former.name])
            }
            for relationship in entity.relationships {
                guard let former = relationship.source else { continue }
                #expect(after.links[entity.target]?[relationship.target.name] == before.links[source]?[former.name])
            }
        }
    }

    /// The set of columns, constraints, numbers and hashes of a genuine store of the version.
    private static func compareForm(_ connection: StoreConnection, _ pair: GenuinePair) throws {
        let mine = try StoreForm(connection)
        let genuine = try Corpus.withCopy(pair.target) { try StoreForm($0) }
        #expect(mine.columns == genuine.columns)
        #expect(mine.constraints == genuine.constraints)
        #expect(mine.hashes == genuine.hashes)
        // Core Data's in-place migration kept the former name of a renamed entity.
        #expect(Set(mine.numbers.map { [$0[0], $0[2]] }) == Set(genuine.numbers.map { [$0[0], $0[2]] }))
        let unknown = genuine.numbers.subtracting(mine.numbers).map { $0[1] }
        #expect(unknown.allSatisfy { name in mine.numbers.allSatisfy { $0[1] != name } })
    }
}
