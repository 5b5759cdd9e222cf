import StoreFormat
import StoreWriting
import Testing

@Suite("Writing the model cache")
struct ModelCacheWriterTests {
    static let models = [
        ManagedObjectModel(entities: []),
        ManagedObjectModel(
            entities: [
                EntityDescription(
                    name: "Habit",
                    isAbstract: true,
                    attributes: [
                        AttributeDescription(
                            name: "changed",
                            type: .date,
                            isDerived: true,
                            derivationExpression: "now()"
                        ),
                        AttributeDescription(
                            name: "colour",
                            type: .string,
                            defaultValue: .string("red"),
                            renamingIdentifier: "color",
                            versionHashModifier: "3"
                        ),
                        AttributeDescription(
                            name: "count",
                            type: .integer64,
                            isDerived: true,
                            derivationExpression: "days.@count"
                        ),
                        AttributeDescription(name: "createdAt", type: .date, defaultValue: .date(12.5)),
                        AttributeDescription(
                            name: "follower",
                            type: .string,
                            isDerived: true,
                            derivationExpression: "next.colour"
                        ),
                        AttributeDescription(
                            name: "id",
                            type: .uuid,
                            isOptional: false,
                            preservesValueInHistoryOnDeletion: true
                        ),
                        AttributeDescription(name: "isOpen", type: .boolean, defaultValue: .integer(1)),
                        AttributeDescription(
                            name: "loud",
                            type: .string,
                            isDerived: true,
                            derivationExpression: "uppercase:(colour)"
                        ),
                        AttributeDescription(name: "picture", type: .binaryData, allowsExternalBinaryDataStorage: true),
                        AttributeDescription(name: "shown", type: .undefined, isTransient: true),
                        AttributeDescription(
                            name: "style",
                            type: .transformable,
                            valueTransformerName: "StyleTransformer"
                        ),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "days",
                            destination: "HabitDay",
                            inverse: "habit",
                            minCount: 1,
                            maxCount: 100,
                            isOrdered: true,
                            isOptional: false,
                            deleteRule: .cascade
                        ),
                        RelationshipDescription(
                            name: "next",
                            destination: "Habit",
                            deleteRule: .deny,
                            renamingIdentifier: "following",
                            versionHashModifier: "2"
                        ),
                    ],
                    uniquenessConstraints: [["id"], ["colour", "createdAt"]],
                    fetchIndexes: [
                        FetchIndexDescription(name: "byColour", properties: ["colour", "createdAt"]),
                        FetchIndexDescription(
                            name: "partial",
                            elements: [FetchIndexDescription.Element(property: "id", kind: .rTree, isAscending: false)],
                            isPartial: true
                        ),
                    ],
                    legacyTombstoneAttributes: ["id", "colour"],
                    renamingIdentifier: "Custom",
                    versionHashModifier: "1"
                ),
                EntityDescription(
                    name: "DailyHabit",
                    superentity: "Habit",
                    attributes: [AttributeDescription(name: "hour", type: .integer16)]
                ),
                EntityDescription(
                    name: "HabitDay",
                    relationships: [
                        RelationshipDescription(name: "habit", destination: "Habit", inverse: "days")
                    ]
                ),
            ],
            versionIdentifiers: ["2"]
        ),
    ]

    @Test("A written model cache decodes to the same model", arguments: models)
    func roundTrip(_ model: ManagedObjectModel) throws {
        #expect(try ManagedObjectModel(modelCache: ModelCacheWriter.bytes(of: model)) == model)
    }

    /// The entities of the second model's archive, and a reader of the archive.
    private static func archived() throws -> (KeyedArchiveReader, [String: PropertyListValue]) {
        let reader = try KeyedArchiveReader(ModelCacheWriter.archive(of: models[1]))
        return (reader, try #require(reader.dictionary(reader.topObject()?.fields["NSEntities"])))
    }

    @Test("An entity refers to its subentities, and a relationship to its destination and its inverse")
    func references() throws {
        let (reader, entities) = try Self.archived()
        let habit = try #require(reader.object(entities["Habit"]))
        let daily = try #require(entities["DailyHabit"])
        #expect(reader.dictionary(habit.fields["NSSubentities"]) == ["DailyHabit": daily])

        let destination = try #require(reader.object(entities["HabitDay"]))
        let inverse = try #require(reader.dictionary(destination.fields["NSProperties"])?["habit"])
        for owner in ["Habit", "DailyHabit"] {
            let properties = reader.dictionary(reader.object(entities[owner])?.fields["NSProperties"])
            let days = try #require(reader.object(properties?["days"]))
            #expect(days.fields["NSDestinationEntity"] == entities["HabitDay"])
            #expect(days.fields["NSInverseRelationship"] == inverse)
            let next = try #require(reader.object(properties?["next"]))
            #expect(next.fields["NSDestinationEntity"] == entities["Habit"])
            #expect(next.fields["NSInverseRelationship"] == KeyedArchiveWriter.null)
        }
    }

    @Test("Lists of constraints and indexes are mutable arrays, as in genuine archives, and keys are in a fixed one")
    func arrayClasses() throws {
        let (reader, entities) = try Self.archived()
        let habit = try #require(reader.object(entities["Habit"]))
        let indexes = try #require(reader.elements(habit.fields["NSFetchIndexDescriptions"])).compactMap(reader.object)
        try #require(indexes.count == 2)
        let lists =
            [habit.fields["NSFetchIndexDescriptions"], habit.fields["NSUniqueTuples"]]
            + indexes.map { $0.fields["NSIndexElements"] }
        for list in lists { #expect(reader.object(list)?.className == "NSMutableArray") }
        let values = reader.object(reader.topObject()?.fields["NSEntities"])?.fields["values"]
        #expect(reader.object(values)?.className == "NSArray")
    }

    @Test("Equal models give equal bytes", arguments: models)
    func deterministic(_ model: ManagedObjectModel) throws {
        let entities = Array(model.entitiesByName.values).reversed()
        let same = ManagedObjectModel(entities: Array(entities), versionIdentifiers: model.versionIdentifiers)
        #expect(try ModelCacheWriter.bytes(of: same) == ModelCacheWriter.bytes(of: model))
    }

    @Test("Stand-ins for version hashes differ by entity, and their digests follow the documentation")
    func versionHashes() throws {
        let model = Self.models[1]
        let metadata = MetadataWriter.metadata(for: model, uuid: "X")
        let hashes = metadata.entityVersionHashes
        #expect(Set(hashes.values).count == 3)
        #expect(metadata.recordedModelDigest == metadata.modelDigest)
        #expect(metadata.recordedModelChecksum == metadata.modelChecksum)
        let changed = ManagedObjectModel(entities: [
            EntityDescription(name: "HabitDay", attributes: [AttributeDescription(name: "note", type: .string)])
        ])
        #expect(SyntheticVersionHash.hashes(of: changed)["HabitDay"] != hashes["HabitDay"])
        let modified = ManagedObjectModel(entities: [EntityDescription(name: "HabitDay", versionHashModifier: "1")])
        let renamed = ManagedObjectModel(entities: [EntityDescription(name: "HabitDay", renamingIdentifier: "Day")])
        let plain = SyntheticVersionHash.hashes(of: ManagedObjectModel(entities: [EntityDescription(name: "HabitDay")]))
        #expect(SyntheticVersionHash.hashes(of: modified) != plain)
        #expect(SyntheticVersionHash.hashes(of: renamed) == plain)
    }

    @Test("A model with too many ancestors of an entity is rejected")
    func longLine() throws {
        func line(_ count: Int) throws -> [UInt8] {
            let entities = (0..<count)
                .map { number in
                    EntityDescription(name: "E\(number)", superentity: number == 0 ? nil : "E\(number - 1)")
                }
            return try ModelCacheWriter.bytes(of: ManagedObjectModel(entities: entities))
        }
        #expect(try ManagedObjectModel(modelCache: line(100)).lineage(of: "E99").count == 100)
        let tooLong = try line(200)
        let error = #expect(throws: UndecodableData.self) { try ManagedObjectModel(modelCache: tooLong) }
        #expect(error.map { "\($0)" }?.contains("too many ancestors") == true)
    }
}
