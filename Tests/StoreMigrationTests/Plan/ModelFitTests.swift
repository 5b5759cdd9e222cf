import FoundationEssentials
import ModelMigration
import SafeFiles
import StoreAccess
import StoreFixtures
import StoreFormat
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Stores and the model of their programs")
struct ModelFitTests {
    private func inspection(_ places: Places) throws -> StoreInspection {
        try RecipeBuilder.build(recipeFile: Fixtures.habitCalendar, at: places.oldStore)
        return try #require(try StoreInspector(depth: .layout).inspect(places.oldStore).inspection)
    }

    @Test("Version hashes of the current or an earlier version decide if both sides have them")
    func hashes() throws {
        let inspection = try inspection(Places())
        let model = try #require(inspection.model)
        let hashes = try #require(inspection.metadata?.entityVersionHashes)
        let others = hashes.mapValues { $0.reversed() as [UInt8] }
        func file(_ current: [String: [UInt8]], _ former: [String: [UInt8]]) -> ModelFile {
            ModelFile(model: model, entityVersionHashes: current, otherVersions: ["1": former])
        }
        #expect(file(hashes, others).covers(inspection))
        #expect(file(others, hashes).covers(inspection))
        #expect(!file(others, others).covers(inspection))
    }

    @Test("Without version hashes the model must have every entity and property of the store")
    func shape() throws {
        let inspection = try inspection(Places())
        let model = try #require(inspection.model)
        let entities = model.entitiesByName.values.sorted { $0.name < $1.name }
        #expect(ModelFile(model: model).covers(inspection))
        for index in entities.indices {
            var fewer = entities
            fewer.remove(at: index)
            #expect(!ModelFile(model: ManagedObjectModel(entities: fewer)).covers(inspection))
            fewer.append(EntityDescription(name: entities[index].name))
            #expect(!ModelFile(model: ManagedObjectModel(entities: fewer)).covers(inspection))
        }
        let more = ManagedObjectModel(entities: entities + [EntityDescription(name: "Later")])
        #expect(ModelFile(model: more).covers(inspection))
    }

    @Test("Programs open a migrated store if its version is the current or an earlier one of theirs")
    func opens() throws {
        let model = ManagedObjectModel(entities: [EntityDescription(name: "Habit")])
        let (hashes, others): ([String: [UInt8]], [String: [UInt8]]) = (["Habit": [1]], ["Habit": [2]])
        let target = MigrationTarget(model, entityVersionHashes: hashes)
        func file(_ current: [String: [UInt8]], _ former: [String: [UInt8]]) -> ModelFile {
            ModelFile(model: model, entityVersionHashes: current, otherVersions: ["1": former])
        }
        #expect(file(hashes, others).opens(target))
        #expect(file(others, hashes).opens(target))
        #expect(!file(others, others).opens(target))
        // Without hashes, the entities decide.
        #expect(ModelFile(model: model).opens(target))
        #expect(!ModelFile(model: ManagedObjectModel(entities: [])).opens(target))
    }

    @Test("The new store has the version that a share migrates to, or an older one")
    func standing() throws {
        let places = try Places()
        try places.makeDummies(at: places.newStore)
        let new = try StoreInspector(depth: .layout).inspect(places.newStore)
        let gatherer = FactsGatherer(
            old: places.oldStore,
            new: places.newStore,
            surroundings: Surroundings(lockTimeout: .seconds(60))
        )
        func standing(_ target: MigrationTarget) throws -> MigrationFacts.Standing? {
            try gatherer.migrationFacts(target, .absent, new, copiesOld: false).newStanding
        }
        let present = try MigrationTarget(path: places.newStore.path)
        let entities = present.model.entitiesByName.values + [EntityDescription(name: "Later")]
        let later = MigrationTarget(ManagedObjectModel(entities: Array(entities)), entityVersionHashes: [:])
        #expect(try standing(present) == .current)
        #expect(try standing(later) == .older)
    }

    @Test("A plain store fits any model")
    func plainStore() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x)")
        let inspection = try #require(try StoreInspector(depth: .layout).inspect(places.oldStore).inspection)
        #expect(ModelFile(model: ManagedObjectModel(entities: [])).covers(inspection))
    }

    @Test("A store of a newer model is refused at either path, and nothing is written")
    func refused() throws {
        let places = try Places()
        _ = try inspection(places)
        try places.old.write("contents", Array("<model><entity name='Habit'/></model>".utf8))
        let model = places.old.location("contents").url
        let before = try World(places)

        for isAtNew in [false, true] {
            let (old, new) = isAtNew ? (places.newStore, places.oldStore) : (places.oldStore, places.newStore)
            var options = ShareOptions()
            options.modelFile = model
            let migrator = StoreMigrator(from: old.url, to: new.url, options: options)
            let error = #expect(throws: MigrationError.self) {
                try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil)
            }
            #expect(error?.outcome == .incompatible)
            #expect(error?.message.contains(places.oldStore.path) == true)
            #expect(try migrator.planAndWait().outcome == .incompatible)
        }
        #expect(try World(places) == before)
    }

    @Test("A model that cannot be read is a usage error", arguments: ["nothing", "text"])
    func unreadableModel(_ kind: String) throws {
        let places = try Places()
        _ = try inspection(places)
        if kind == "text" { try places.old.write("text", [1, 2, 3]) }
        let error = #expect(throws: MigrationError.self) {
            try places.share { $0.modelFile = places.old.location(kind).url }
        }
        #expect(error?.outcome == .usage)
        #expect(try places.container.directory.entries().isEmpty)
    }
}
