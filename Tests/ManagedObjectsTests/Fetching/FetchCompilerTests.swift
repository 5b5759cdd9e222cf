import ManagedObjects
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("FetchRequest")
struct FetchCompilerTests {
    private static func rows(_ menagerie: Menagerie, _ statement: SQLFragment) throws -> [Int64] {
        var result: [Int64] = []
        try menagerie.connection.forEachRow(statement.sql, statement.arguments) { result.append($0.integer(0)) }
        return result
    }

    private static func descriptors(
        for entity: String,
        using generator: inout SeededGenerator
    ) -> [FetchRequest<ManagedObject>.SortDescriptor] {
        let keyPaths: [String: [String]] = [
            "Being": [
                "name", "born", "weight", "legs", "price", "isTame", "tag", "keeper.age", "keeper.boss.name",
                "friends.@count", "keeper.beings.@count",
            ],
            "Dog": ["lives", "bark", "rival.name", "link"],
            "Keeper": ["name", "age", "favourite.weight", "staff.@count"],
            "Food": ["name", "calories", "eaters.@count"],
        ]
        return (0..<Int.random(in: 0...3, using: &generator))
            .map { _ in
                FetchRequest<ManagedObject>
                    .SortDescriptor(
                        keyPath: generator.pick(keyPaths[entity] ?? []),
                        ascending: generator.chance(50),
                        comparison: generator.pick([.literal, .caseInsensitive, .caseAndDiacriticInsensitive])
                    )
            }
    }

    @Test("A fetch request gives the same objects in the same order in SQL and in memory", arguments: Seed.several(8))
    func agreement(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let menagerie = try Menagerie(using: &generator)
        let ids = menagerie.objects.map(\.objectID)
        let model = menagerie.layout.model
        let compiler = FetchCompiler(layout: menagerie.layout, storeUUID: menagerie.storeUUID)
        let requests = 150
        var refused = 0
        for number in 0..<requests {
            let entity = generator.pick(["Being", "Dog", "Keeper", "Food"])
            let (format, predicate) = try PredicateMaker.predicate(for: entity, ids: ids, using: &generator)
            var request = FetchRequest(entityName: entity)
            if generator.chance(60) { request.predicate = predicate }
            request.sortDescriptors = Self.descriptors(for: entity, using: &generator)
            request.includesSubentities = generator.chance(70)
            if generator.chance(40) { request.fetchLimit = Int.random(in: 1...10, using: &generator) }
            if generator.chance(30) { request.fetchOffset = Int.random(in: 1...6, using: &generator) }
            let fetch = try request.resolved(in: model)

            let order = FetchOrder(fetch)
            let evaluator = fetch.predicate.map(PredicateEvaluator.init)
            let all = try menagerie.objects
                .filter {
                    let name = $0.objectID.entityName
                    return request.includesSubentities ? model.isEntity(name, kindOf: entity) : name == entity
                }
                .filter { try evaluator?.matches($0) ?? true }.map { try order.key(of: $0) }.sorted(by: order.precedes)
                .dropFirst(request.fetchOffset)
            let expected = (request.fetchLimit > 0 ? all.prefix(request.fetchLimit) : all)
                .compactMap(\.objectID.primaryKey)
            let place: Comment = "seed \(seed), request \(number): \(format), \(request.sortDescriptors)"
            let found = try PredicateMaker.unlessTooDeep {
                try (Self.rows(menagerie, compiler.identifiers(fetch)), Self.rows(menagerie, compiler.count(fetch)))
            }
            guard let (identifiers, count) = found else {
                refused += 1
                continue
            }
            #expect(identifiers == expected, place)
            #expect(count == [Int64(expected.count)], place)
        }
        #expect(refused < requests / 20)
    }

    @Test("A fetch request returns dictionaries, distinct ones on request")
    func dictionaries() throws {
        var generator = SeededGenerator(seed: 7)
        let menagerie = try Menagerie(using: &generator)
        let compiler = FetchCompiler(layout: menagerie.layout, storeUUID: menagerie.storeUUID)
        var request = FetchRequest(entityName: "Being")
        request.returnsDictionaries = true
        request.propertiesToFetch = ["name", "keeper", "keeper.name", "friends.@count", "self", "rival"]
        #expect(throws: FetchError.self) { try request.resolved(in: menagerie.layout.model) }
        request.propertiesToFetch.removeLast()
        let fetch = try request.resolved(in: menagerie.layout.model)
        var results: [[String: PredicateConstant]] = []
        try compiler.forEachDictionary(fetch, on: menagerie.connection) { results.append($0) }
        let beings = menagerie.objects.filter { $0.objectID.rootName == "Being" }
        #expect(results.count == beings.count)
        for (result, being) in zip(results, beings) {
            #expect(result["name"] == .value(being.predicateValue(of: "name")))
            #expect(result["keeper"] == being.toOnes["keeper"].map { .object($0.objectID) } ?? .value(.null))
            #expect(result["keeper.name"] == .value(being.toOnes["keeper"]?.predicateValue(of: "name") ?? .null))
            #expect(result["friends.@count"] == .value(.integer(Int64(being.toManys["friends"]?.count ?? 0))))
            #expect(result["self"] == .object(being.objectID))
        }

        request.propertiesToFetch = ["name"]
        request.returnsDistinctResults = true
        request.sortDescriptors = [.init(keyPath: "name", ascending: false)]
        var names: [PredicateConstant?] = []
        try compiler.forEachDictionary(request.resolved(in: menagerie.layout.model), on: menagerie.connection) {
            names.append($0["name"])
        }
        #expect(Set(names).count == names.count)
        #expect(Set(names) == Set(beings.map { .value($0.predicateValue(of: "name")) }))
    }

    @Test(
        "A fetch request with an unusable sort key or entity is rejected",
        arguments: ["nme", "keeper", "friends.name", "picture", "name.x", "entity"]
    )
    func errors(keyPath: String) throws {
        var generator = SeededGenerator(seed: 7)
        let menagerie = try Menagerie(using: &generator, count: 3)
        let request = FetchRequest(entityName: "Being", sortDescriptors: [.init(keyPath: keyPath)])
        #expect(throws: FetchError.self) { try request.resolved(in: menagerie.layout.model) }
        #expect(throws: FetchError.self) {
            try FetchRequest(entityName: "Unknown").resolved(in: menagerie.layout.model)
        }
    }

    @Test("A fetch request with an indexed attribute uses the index")
    func index() throws {
        var generator = SeededGenerator(seed: 7)
        let menagerie = try Menagerie(using: &generator, count: 3)
        let compiler = FetchCompiler(layout: menagerie.layout, storeUUID: menagerie.storeUUID)
        try menagerie.connection.execute("CREATE INDEX test_name ON ZKEEPER (ZNAME COLLATE BINARY ASC)")
        for format in ["name == 'a'", "name BEGINSWITH 'a'", "name IN {'a', 'b'}"] {
            let predicate = try FetchPredicate(format: format)
            let fetch = try FetchRequest(entityName: "Keeper", predicate: predicate)
                .resolved(in: menagerie.layout.model)
            let statement = try compiler.identifiers(fetch)
            var plan = ""
            try menagerie.connection.forEachRow("EXPLAIN QUERY PLAN " + statement.sql, statement.arguments) {
                plan += $0.text(3) ?? ""
            }
            #expect(plan.contains("test_name"), "\(format): \(plan)")
        }
    }
}
