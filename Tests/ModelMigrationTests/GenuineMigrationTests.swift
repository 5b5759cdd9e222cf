import ModelMigration
import SafeFiles
import StoreFormat
import StoreVerification
import StoreWriting
import TestSupport
import Testing

/// Genuine stores, migrated to the version of another genuine store, or to a genuine model.
@Suite("Migrating genuine stores", .genuineStores)
struct GenuineMigrationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let source: String
        /// A folder of the corpus with a store, or a model file in `models`.
        let target: String
        var version: String?
        var isStore: Bool { !target.hasPrefix("models/") }
        var testDescription: String { "\(source) to \(target) \(version ?? "")" }
    }

    private static let bookmarks = "models/BookmarksModel.xcdatamodeld"
    private static let sampleModel = "models/SampleModel.momd"
    static let cases: [Case] = [
        Case(source: "cdplus-sm1-v1", target: "cdplus-sm1-v2"),
        Case(source: "cdplus-sm1-v1", target: sampleModel, version: "SampleModel2"),
        Case(source: "cdplus-sm1-v1", target: sampleModel, version: "SampleModel3"),
        Case(source: "cdplus-sm1-v2", target: sampleModel, version: "SampleModel3"),
        Case(source: "cdplus-sm2-v1", target: "cdplus-sm2-v2"),
        Case(source: "objcio-moody-2", target: "objcio-moody-3"),
        Case(source: "ddg-bookmarks-v1", target: bookmarks, version: "BookmarksModel 3"),
        Case(source: "ddg-bookmarks-v1", target: "ddg-bookmarks-v4"),
        Case(source: "ddg-bookmarks-v1", target: "ddg-bookmarks-v5"),
        Case(source: "ddg-bookmarks-v1", target: bookmarks, version: "BookmarksModel 6"),
        Case(source: "ddg-bookmarks-v4", target: "ddg-bookmarks-v5"),
        Case(source: "ddg-bookmarks-v4", target: bookmarks, version: "BookmarksModel 6"),
        Case(source: "ddg-bookmarks-v5", target: bookmarks, version: "BookmarksModel 6"),
        Case(source: "ddg-syncmeta-v3", target: "models/SyncMetadata.xcdatamodeld", version: "SyncMetadata 4"),
    ]

    @Test("The migrated store has the target's form, keeps every value, and is sound", arguments: cases)
    func migrating(_ migration: Case) throws {
        let scratch = try ScratchFolder()
        let store = try #require(Corpus.store(in: migration.source))
        let location = try Corpus.copy(store, into: scratch)
        let oddities = try Set(StoreVerifier().verify(location, level: .coredata).findings.map(\.code))
        let target = try Self.target(migration)
        let connection = try StoreConnection(location, access: .privateCopy)
        let migrator = try ModelMigrator(connection, to: target)
        let former = try #require(try StoreMetadata(reading: connection))
        let sourceLayout = try #require(try Self.layout(connection, migrator.mapping.source))
        let before = try StoreContent(connection, sourceLayout)
        #expect(!migrator.isUpToDate)
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
        if migration.isStore { try Self.compareForm(connection, migration) }
        #expect(try ModelMigrator(connection, to: target).isUpToDate)
        try connection.close()
        let findings = try StoreVerifier().verify(location, level: .coredata).findings
            .filter { !oddities.contains($0.code) }
        #expect(findings.isEmpty, "\(findings.map { "\($0.code) \($0.message)" })")
    }

    @Test("A store whose attribute becomes a relationship is refused and stays byte for byte")
    func refused() throws {
        let scratch = try ScratchFolder()
        let store = try #require(Corpus.store(in: "wibosco-1"))
        let location = try Corpus.copy(store, into: scratch)
        let before = try scratch.bytes(location.name)
        let target = try Self.target(Case(source: "wibosco-1", target: "wibosco-3"))
        let connection = try StoreConnection(location, access: .privateCopy)
        let error = #expect(throws: MappingRefusals.self) { try ModelMigrator(connection, to: target) }
        #expect(error?.refusals.map(\.rule) == [.propertyKind])
        #expect(error?.refusals.first?.subject == "Post.color")
        try connection.close()
        #expect(try scratch.bytes(location.name) == before)
    }

    private static func target(_ migration: Case) throws -> MigrationTarget {
        guard migration.isStore else {
            return try MigrationTarget(
                path: (Corpus.folder ?? "") + "/" + migration.target,
                version: migration.version
            )
        }
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(try #require(Corpus.store(in: migration.target)), into: scratch)
        return try withExtendedLifetime(scratch) { try MigrationTarget(path: location.path) }
    }

    /// The layout of a store with a model; a renamed entity may have its former name in `Z_PRIMARYKEY`.
    private static func layout(_ connection: StoreConnection, _ model: ManagedObjectModel) throws -> StoreLayout? {
        guard let numbers = try EntityNumbers(reading: connection) else { return nil }
        let names = Dictionary(
            model.entitiesByName.values.map { ($0.canonicalName, $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
        let entries = numbers.entries.map { entry in
            EntityNumbers.Entry(
                number: entry.number,
                name: names[entry.name] ?? entry.name,
                parent: entry.parent,
                max: entry.max
            )
        }
        return StoreLayout(
            model: model,
            schema: try StoreSchema(reading: connection),
            entityNumbers: EntityNumbers(entries)
        )
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
    private static func compareForm(_ connection: StoreConnection, _ migration: Case) throws {
        let mine = try StoreForm(connection)
        let genuine = try Corpus.withCopy(try #require(Corpus.store(in: migration.target))) { try StoreForm($0) }
        #expect(mine.columns == genuine.columns)
        #expect(mine.constraints == genuine.constraints)
        #expect(mine.hashes == genuine.hashes)
        // Core Data's in-place migration kept the former name of a renamed entity.
        #expect(Set(mine.numbers.map { [$0[0], $0[2]] }) == Set(genuine.numbers.map { [$0[0], $0[2]] }))
        let unknown = genuine.numbers.subtracting(mine.numbers).map { $0[1] }
        #expect(unknown.allSatisfy { name in mine.numbers.allSatisfy { $0[1] != name } })
    }
}
