import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("Decoding model caches")
struct ManagedObjectModelTests {
    @Test(
        "Every genuine model cache decodes, and the store's hashes are recomputed from it",
        .genuineStores,
        arguments: Corpus.stores
    )
    func corpus(store: String) throws {
        let scratch = try ScratchFolder()
        let connection = try StoreConnection(Corpus.copy(store, into: scratch), access: .privateCopy)
        let numbers = try #require(try EntityNumbers(reading: connection))
        let metadata = try #require(try StoreMetadata(reading: connection))
        if let digest = metadata.recordedModelDigest { #expect(digest == metadata.modelDigest) }
        if let checksum = metadata.recordedModelChecksum { #expect(checksum == metadata.modelChecksum) }
        let schema = try StoreSchema(reading: connection)
        guard schema.table(named: "Z_MODELCACHE") != nil,
            let cache = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob
        else { return }

        let model = try ManagedObjectModel(modelCache: cache)
        #expect(Set(model.entitiesByName.keys) == Set(metadata.entityVersionHashes.keys))
        for entity in model.entitiesByName.values {
            // One store has a renamed entity, which is numbered under its former name.
            let named = numbers.named(by: model)
            let entry = try #require(named.number(of: entity.name).flatMap(named.entry))
            #expect(entry.parent == entity.superentity.flatMap(named.number) ?? 0)
            #expect(!entity.attributes.contains { $0.type == .undefined && !$0.isTransient })
            for relationship in entity.relationships {
                #expect(model.entitiesByName[relationship.destination] != nil)
                guard let inverse = relationship.inverse else { continue }
                let back = try #require(model.relationship(inverse, of: relationship.destination)).relationship
                #expect(back.inverse == relationship.name)
            }
            let inherited = model.lineage(of: entity.name).dropLast()
                .flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
            let own = entity.attributes.map(\.name) + entity.relationships.map(\.name)
            #expect(Set(inherited).isDisjoint(with: own))
        }
    }
}

extension ManagedObjectModelTests {
    @Test("A small cache with every kind of property decodes completely")
    func sample() throws {
        let model = try ManagedObjectModel(modelCache: SampleModel.cache)
        #expect(model.versionIdentifiers == ["1", "2"])
        #expect(Set(model.entitiesByName.keys) == ["Goal", "Habit", "Streak"])
        let habit = try #require(model.entitiesByName["Habit"])
        #expect(habit.isAbstract)
        #expect(habit.superentity == nil)
        #expect(habit.uniquenessConstraints == [["title"]])
        #expect(
            habit.fetchIndexes == [
                FetchIndexDescription(name: "byTitle", elements: [.init(property: "title", isAscending: false)])
            ]
        )
        #expect(habit.legacyTombstoneAttributes == ["title", "started"])
        #expect(
            habit.attributes == [
                AttributeDescription(
                    name: "photo",
                    type: .binaryData,
                    allowsExternalBinaryDataStorage: true
                ),
                AttributeDescription(name: "scratch", type: .undefined, isOptional: false, isTransient: true),
                AttributeDescription(name: "started", type: .date, isOptional: false, defaultValue: .date(1.5)),
                AttributeDescription(name: "streakCount", type: .integer64, isOptional: false, isDerived: true),
                AttributeDescription(
                    name: "title",
                    type: .string,
                    preservesValueInHistoryOnDeletion: true,
                    defaultValue: .string("untitled")
                ),
            ]
        )
        #expect(
            habit.relationships == [
                RelationshipDescription(
                    name: "streaks",
                    destination: "Streak",
                    inverse: "habit",
                    maxCount: 0,
                    isOrdered: true,
                    deleteRule: .cascade
                )
            ]
        )
        let goal = try #require(model.entitiesByName["Goal"])
        #expect(goal.superentity == "Habit")
        #expect(goal.attributes.map(\.name) == ["target"])
        #expect(goal.relationships.isEmpty)
        #expect(model.attributes(of: "Goal").map(\.name) == habit.attributes.map(\.name) + ["target"])
        #expect(model.subentities(of: "Habit") == ["Goal"])
        #expect(model.isEntity("Goal", kindOf: "Habit"))
        #expect(
            model.entitiesByName["Streak"]?.relationships == [
                RelationshipDescription(
                    name: "habit",
                    destination: "Habit",
                    inverse: "streaks",
                    minCount: 1,
                    isOptional: false
                )
            ]
        )
    }

    @Test("A cycle of inheritance ends the list of ancestors")
    func circle() {
        let model = ManagedObjectModel(entities: [
            EntityDescription(name: "A", superentity: "B"), EntityDescription(name: "B", superentity: "A"),
            EntityDescription(name: "C", superentity: "missing"),
        ])
        #expect(model.lineage(of: "A").map(\.name) == ["B", "A"])
        #expect(model.lineage(of: "C").map(\.name) == ["C"])
        #expect(model.lineage(of: "missing").isEmpty)
    }

    @Test(
        "Data that is no model is rejected",
        arguments: [
            "<plist><dict/></plist>",
            "<plist><dict><key>$archiver</key><string>NSKeyedArchiver</string></dict></plist>",
            """
            <plist><dict><key>$archiver</key><string>NSKeyedArchiver</string><key>$objects</key><array/>\
            <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>99</integer></dict></dict></dict></plist>
            """,
        ]
    )
    func refused(text: String) {
        #expect(throws: UndecodableData.self) { try ManagedObjectModel(archive: Array(text.utf8)) }
    }
}
