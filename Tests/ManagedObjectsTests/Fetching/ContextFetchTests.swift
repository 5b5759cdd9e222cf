import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFixtures
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@Suite("Fetching from a context")
struct ContextFetchTests {
    private static let recipe = """
        seed: context
        model:
          entities:
            Person:
              attributes: {name: string, age: integer16}
              relationships:
                boss: {to: Person, inverse: staff}
                staff: {to: Person, inverse: boss, many: true}
                pets: {to: Pet, inverse: owner, many: true}
            Guest: {parent: Person}
            Pet:
              attributes: {name: string}
              relationships:
                owner: {to: Person, inverse: pets}
        saves:
          - at: 2026-03-01
            insert:
              - {entity: Person, name: ann, values: {name: Ann, age: 40}}
              - {entity: Person, name: bob, values: {name: Bob, age: 20, boss: ann}}
              - {entity: Guest, name: cem, values: {name: Cem, age: 30, boss: bob}}
              - {entity: Pet, values: {name: Rex, owner: ann}}
              - {entity: Pet, values: {name: Mia, owner: bob}}
        """

    private let scratch: ScratchFolder
    private let context: ManagedObjectContext

    init() throws {
        scratch = try ScratchFolder()
        let location = scratch.location("store.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: Self.recipe), at: location)
        let coordinator = PersistentStoreCoordinator()
        try coordinator.addPersistentStore(with: PersistentStoreDescription(url: location.url))
        context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    }

    private static func names(
        _ context: isolated ManagedObjectContext,
        _ format: String,
        entity: String = "Person",
        change: (inout FetchRequest<ManagedObject>) -> Void = { _ in }
    ) throws -> [String] {
        var request = FetchRequest(entityName: entity, predicate: try FetchPredicate(format: format))
        request.sortDescriptors = [.init(keyPath: "name")]
        change(&request)
        return try context.fetch(request).map { try $0.value(String.self, forKey: "name") ?? "-" }
    }

    private static func error<R>(_ body: () throws -> R) -> FetchError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? FetchError
        }
    }

    @Test("A fetch applies order and limits, with or without subentities")
    func stored() async throws {
        try await context.perform { context in
            #expect(try Self.names(context, "age > 10") == ["Ann", "Bob", "Cem"])
            #expect(try Self.names(context, "age > 10") { $0.includesSubentities = false } == ["Ann", "Bob"])
            #expect(
                try Self.names(context, "age > 10") {
                    $0.fetchLimit = 1
                    $0.fetchOffset = 1
                } == ["Bob"]
            )
            #expect(try Self.names(context, "boss.name BEGINSWITH 'A'") == ["Bob"])
            #expect(
                try Self.names(context, "TRUEPREDICATE") { $0.sortDescriptors = [.init(keyPath: "age")] } == [
                    "Bob", "Cem", "Ann",
                ]
            )
            let request = FetchRequest(entityName: "Person", predicate: try FetchPredicate(format: "age >= 30"))
            #expect(try context.count(for: request) == 2)
            #expect(try context.fetchObjectIDs(request).map(\.entityName) == ["Person", "Guest"])
            var values = FetchRequest(entityName: "Pet", sortDescriptors: [.init(keyPath: "name")])
            values.propertiesToFetch = ["owner.name"]
            #expect(
                try context.fetchDictionaries(values) == [
                    ["owner.name": .value("Bob")], ["owner.name": .value("Ann")],
                ]
            )
            #expect(Self.error { try Self.names(context, "nme == 1") }?.keyPath == "nme")
        }
    }

    @Test("A fetch includes the context's unsaved changes unless the request excludes them")
    func pending() async throws {
        try await context.perform { context in
            let ann = try #require(try context.fetch(FetchRequest(entityName: "Person")).first)
            try ann.setValue("Zoe", forKey: "name")
            let new = try context.insertNewObject(forEntityName: "Guest")
            try new.setValue("Dan", forKey: "name")
            try new.setValue(50, forKey: "age")
            #expect(try Self.names(context, "age >= 40") == ["Dan", "Zoe"])
            #expect(try Self.names(context, "name == 'Ann'") == [])
            #expect(
                try Self.names(context, "age > 0") {
                    $0.fetchLimit = 2
                    $0.fetchOffset = 1
                } == ["Cem", "Dan"]
            )
            #expect(try Self.names(context, "age > 0") { $0.includesSubentities = false } == ["Bob", "Zoe"])
            #expect(try Self.names(context, "age >= 40") { $0.includesPendingChanges = false } == ["Zoe"])
            // The change is in an object of another entity than the fetched one.
            #expect(try Self.names(context, "owner.name == 'Zoe'", entity: "Pet") == ["Rex"])
            #expect(try Self.names(context, "ANY staff.name == 'Bob'") == ["Zoe"])
            try context.delete(ann)
            #expect(try Self.names(context, "age >= 40") == ["Dan"])
            #expect(try Self.names(context, "boss == nil") == ["Bob", "Dan"])
            #expect(try context.count(for: FetchRequest(entityName: "Person")) == 3)
        }
    }

    @Test("A child's fetch includes its parent's unsaved changes")
    func child() async throws {
        let child = ManagedObjectContext(.privateQueue, parent: context)
        try await context.perform { context in
            let bob = try #require(
                try context.fetch(
                    FetchRequest(entityName: "Person", predicate: try FetchPredicate(format: "name == 'Bob'"))
                )
                .first
            )
            try bob.setValue("Ben", forKey: "name")
            let new = try context.insertNewObject(forEntityName: "Person")
            try new.setValue("Dan", forKey: "name")
        }
        try await child.perform { child in
            #expect(try Self.names(child, "TRUEPREDICATE") == ["Ann", "Ben", "Cem", "Dan"])
            #expect(try child.count(for: FetchRequest(entityName: "Person")) == 4)
            let new = try child.insertNewObject(forEntityName: "Person")
            try new.setValue("Eve", forKey: "name")
            #expect(try Self.names(child, "name > 'B'") { $0.fetchLimit = 3 } == ["Ben", "Cem", "Dan"])
            #expect(try Self.names(child, "name > 'D'") == ["Dan", "Eve"])
        }
        try await context.perform { context in
            let names = try Self.names(context, "name > 'D'")
            #expect(names == ["Dan"])
        }
    }

    @Test("A fetch fills objects and prefetches destinations on request")
    func prefetching() async throws {
        try await context.perform { context in
            var request = FetchRequest(entityName: "Pet")
            #expect(try context.fetch(request).allSatisfy { $0.isFault })
            request.returnsObjectsAsFaults = false
            #expect(try context.fetch(request).allSatisfy { !$0.isFault })
            request.relationshipKeyPathsForPrefetching = ["owner.staff", "owner.pets"]
            let pets = try context.fetch(request)
            let owner = try #require(try pets[0].object(forKey: "owner"))
            #expect(try owner.hasFault(forRelationshipNamed: "staff") == false)
            #expect(context.registeredObjects.filter { $0.entity.name == "Person" }.count == 2)
            request.relationshipKeyPathsForPrefetching = ["name"]
            #expect(Self.error { try context.fetch(request) }?.keyPath == "name")
        }
    }
}
