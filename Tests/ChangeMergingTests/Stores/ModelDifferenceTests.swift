import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Merging stores whose models differ")
struct ModelDifferenceTests {
    /// The model to which the shared store was migrated.
    struct Migration: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var goal: AttributeDescription? = AttributeDescription(name: "goal", type: .integer64)
        var extra: AttributeDescription?
        var hasCategory = true
        var isOrdered = true
        var refusals: [MergeRefusal] = []

        /// The first entity shifts the numbers of all others.
        var model: ManagedObjectModel {
            let category = EntityDescription(
                name: "Category",
                attributes: [
                    AttributeDescription(name: "title", type: .string),
                    AttributeDescription(name: "color", type: .integer16),
                ] + (extra.map { [$0] } ?? []),
                relationships: [
                    RelationshipDescription(
                        name: "habits",
                        destination: "Habit",
                        inverse: "category",
                        maxCount: 0,
                        isOrdered: isOrdered,
                        deleteRule: .cascade
                    )
                ]
            )
            let habit = EntityDescription(
                name: "Habit",
                attributes: (StoreMergeTests.model.entitiesByName["Habit"]?.attributes ?? [])
                    .filter { $0.name != "goal" }
                    + (goal.map { [$0] } ?? []),
                relationships: hasCategory ? StoreMergeTests.model.entitiesByName["Habit"]?.relationships ?? [] : [],
                uniquenessConstraints: [["code"]]
            )
            return ManagedObjectModel(
                entities: [EntityDescription(name: "Aardvark"), habit] + (hasCategory ? [category] : [])
            )
        }
    }

    /// Copies the objects of the base into a store of another model, as a migration does: keys and versions stay.
    private static func migrate(_ triple: MergeTriple, to model: ManagedObjectModel) throws -> MergeStore {
        let base = try triple.store("base")
        let location = StoreLocation(folder: triple.folder.directory.path, name: "migrated.sqlite")
        let builder = try StoreBuilder(model, uuid: "2E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11")
        try builder.build(at: location, in: triple.folder.directory).close()
        let store = try MergeStore(location, in: triple.folder.directory, model)
        try store.save { writer in
            for key in try base.objects() where model.entitiesByName[key.entity] != nil {
                try writer.allocateKeys(for: key.entity, upTo: key.primaryKey)
                let names = model.attributes(of: key.entity).map(\.name)
                var values = try base.side().stored(names, of: key.entity, key.primaryKey) ?? [:]
                for attribute in model.attributes(of: key.entity) where !attribute.isOptional {
                    values[attribute.name] = .text("none")
                }
                try writer.insert(key, values)
            }
            guard model.entitiesByName["Category"] != nil else { return }
            for habit in try base.writer.destinations(of: StoreMergeTests.category, "habits") {
                try writer.connect(StoreMergeTests.category, "habits", to: habit)
            }
        }
        for table in ["ZHABIT"] + (model.entitiesByName["Category"] == nil ? [] : ["ZCATEGORY"]) {
            try base.connection.forEachRow("SELECT Z_PK, Z_OPT FROM \(table)") {
                try store.connection.run("UPDATE \(table) SET Z_OPT = ? WHERE Z_PK = ?", [$0.value(1), $0.value(0)])
            }
        }
        return store
    }

    private static func plan(_ triple: MergeTriple, _ shared: MergeStore) throws -> any PlannedMerge {
        try StoreMerger(
            base: triple.store("base").place(),
            old: triple.store("old").place(),
            shared: shared.place()
        )
        .plan()
    }

    @Test("Entities are matched by name, attributes missing on the old side get defaults, and nothing is lost")
    func lackingProperties() throws {
        let triple = try StoreMergeTests.triple(tracksHistory: false)
        let migration = Migration(
            testDescription: "",
            goal: nil,
            extra: AttributeDescription(
                name: "note",
                type: .string,
                isOptional: false,
                defaultValue: .string("none")
            )
        )
        let old = try triple.store("old")
        let late = try old.insert("Category", ["title": .text("late")])
        try old.save {
            try $0.update(StoreMergeTests.habit(1), ["goal": .integer(7), "name": .text("old")])
            try $0.update(StoreMergeTests.habit(2), ["goal": .integer(8)])
            try $0.connect(late, "habits", to: StoreMergeTests.habit(3))
        }
        let shared = try Self.migrate(triple, to: migration.model)
        let merge = try Self.plan(triple, shared)
        #expect(merge.summary.refusals.isEmpty)
        #expect(merge.summary.notes == [MergeNote(.propertyLacking, entity: "Habit", property: "goal", count: 2)])
        let parked = ParkedRowRestorer()
        _ = try merge.carryOut(
            MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60)), park: { parked.rows.append($0) })
        )
        #expect(try shared.value("name", of: StoreMergeTests.habit(1)) == .text("old"))
        #expect(try shared.value("note", of: late) == .text("none"))
        #expect(try shared.writer.destinations(of: late, "habits") == [StoreMergeTests.habit(3)])
        #expect(try shared.objects().filter { $0.entity == "Category" } == [StoreMergeTests.category, late])
        #expect(parked.rows.map { $0.values["goal"] } == [.integer(7), .integer(8)])
    }

    @Test(
        "A property defined in two ways is refused, but only if its entity changed",
        arguments: [
            Migration(
                testDescription: "an attribute of another type",
                goal: AttributeDescription(name: "goal", type: .string),
                refusals: [.modelsDiffer(entity: "Habit", property: "goal")]
            ),
            Migration(
                testDescription: "a required value that is missing",
                extra: AttributeDescription(name: "note", type: .string, isOptional: false),
                refusals: [.modelsDiffer(entity: "Category", property: "note")]
            ),
            Migration(
                testDescription: "an entity that was removed",
                hasCategory: false,
                refusals: [.modelsDiffer(entity: "Category", property: nil)]
            ),
            Migration(
                testDescription: "a relationship that lost its order",
                isOrdered: false,
                refusals: [.modelsDiffer(entity: "Category", property: "habits")]
            ),
        ]
    )
    func incompatible(_ migration: Migration) throws {
        let triple = try StoreMergeTests.triple(tracksHistory: false)
        let old = try triple.store("old")
        let shared = try Self.migrate(triple, to: migration.model)
        #expect(try Self.plan(triple, shared).summary.isIdle)
        try old.insert("Category")
        try old.save { try $0.update(StoreMergeTests.habit(1), ["name": .text("old")]) }
        let summary = try Self.plan(triple, shared).summary
        #expect(summary.refusals == migration.refusals)
        #expect(summary.refusals.allSatisfy { $0.kind == .incompatible })
    }
}
