import ManagedObjects
import StoreFormat
import Testing

@Suite("A predicate means the same in SQL and in memory")
struct PredicateAgreementTests {
    private static let predicatesPerStore = 400

    @Test("whatever it is and whatever the rows are", arguments: 1...12 as ClosedRange<UInt64>)
    func agreement(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let menagerie = try Menagerie(using: &generator)
        let ids = menagerie.objects.map(\.objectID)
        var matched = 0
        for number in 0..<Self.predicatesPerStore {
            let entity = generator.pick(["Being", "Dog", "Keeper", "Food"])
            let (format, predicate) = try PredicateMaker.predicate(for: entity, ids: ids, using: &generator)
            let resolved = try predicate.resolved(for: entity, in: menagerie.layout.model)
            let keys = try menagerie.keys(resolved)
            #expect(
                try menagerie.keysInMemory(resolved) == keys,
                "seed \(seed), predicate \(number) for \(entity): \(format)"
            )
            if !keys.isEmpty { matched += 1 }
        }
        // Predicates that match nothing would prove little.
        #expect(matched > Self.predicatesPerStore / 3)
    }
}
