import ManagedObjects
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@Suite("Predicates in SQL and in memory")
struct PredicateAgreementTests {
    private static let predicatesPerStore = 400
    private static let predicatesPerContext = 150

    @Test("A random predicate matches the same random rows in SQL and in memory", arguments: Seed.several(12))
    func agreement(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let menagerie = try Menagerie(using: &generator)
        let ids = menagerie.objects.map(\.objectID)
        var (matched, refused) = (0, 0)
        for number in 0..<Self.predicatesPerStore {
            let entity = generator.pick(["Being", "Dog", "Keeper", "Food"])
            let (format, predicate) = try PredicateMaker.predicate(for: entity, ids: ids, using: &generator)
            let resolved = try predicate.resolved(for: entity, in: menagerie.layout.model)
            guard let keys = try PredicateMaker.unlessTooDeep({ try menagerie.keys(resolved) }) else {
                refused += 1
                continue
            }
            #expect(
                try menagerie.keysInMemory(resolved) == keys,
                "seed \(seed), predicate \(number) for \(entity): \(format)"
            )
            if !keys.isEmpty { matched += 1 }
        }
        // Predicates without matches would prove little.
        #expect(matched > Self.predicatesPerStore / 3)
        #expect(refused < Self.predicatesPerStore / 50)
    }

    @Test("A random predicate matches the same objects in SQL and in a context", arguments: Seed.several(4))
    func contexts(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let menagerie = try Menagerie(using: &generator, count: 12)
        let ids = menagerie.objects.map(\.objectID)
        var cases: [(format: String, predicate: ResolvedPredicate, keys: [Int64])] = []
        for _ in 0..<Self.predicatesPerContext {
            let entity = generator.pick(["Being", "Dog", "Keeper", "Food"])
            let (format, predicate) = try PredicateMaker.predicate(for: entity, ids: ids, using: &generator)
            let resolved = try predicate.resolved(for: entity, in: menagerie.layout.model)
            guard let keys = try PredicateMaker.unlessTooDeep({ try menagerie.keys(resolved) }) else { continue }
            cases.append((format, resolved, keys))
        }
        // Its connection locks the store.
        try menagerie.connection.close()
        let coordinator = PersistentStoreCoordinator()
        try coordinator.addPersistentStore(with: PersistentStoreDescription(url: menagerie.location.url))
        try ManagedObjectContext(.privateQueue, coordinator: coordinator)
            .performAndWait { [cases] context in
                for (number, (format, predicate, keys)) in cases.enumerated() {
                    let evaluator = PredicateEvaluator(predicate)
                    let objects = try context.fetch(FetchRequest(entityName: predicate.entity))
                    let matching = try objects.filter { try evaluator.matches($0) }.compactMap(\.objectID.primaryKey)
                    #expect(
                        matching.sorted() == keys,
                        "seed \(seed), predicate \(number) for \(predicate.entity): \(format)"
                    )
                }
            }
    }
}
