import ChangeMerging
import StoreWriting
import TestSupport
import Testing

@Suite("Merging random stores", .sampled)
struct StoreMergePropertyTests {
    @Test("The merged store equals an in-memory model of the merge", arguments: RandomTriples.seeds)
    func random(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try Self.check(seed, islands: 1, steps: 42, sideSteps: Int.random(in: 2...12, using: &generator))
    }

    @Test(
        "Independent triples in one store are merged as each would be alone",
        arguments: RandomTriples.archipelagos
    )
    func islands(_ seed: UInt64) throws {
        try Self.check(1_000_000 + seed, islands: RandomTriples.islands, steps: 14, sideSteps: 2)
    }

    /// Creates a base with so many groups of objects, changes both sides, merges, and compares.
    private static func check(_ seed: UInt64, islands: Int, steps: Int, sideSteps: Int) throws {
        var generator = SeededGenerator(seed: seed)
        var objects: [[ObjectKey]] = Array(repeating: [], count: islands)
        func change(_ store: MergeStore, _ objects: inout [[ObjectKey]], _ steps: Int) throws {
            try store.save { writer in
                for island in objects.indices {
                    let count = islands == 1 ? steps : Int.random(in: 0...steps * 2, using: &generator)
                    try RandomGraph.change(&objects[island], writer, steps: count, &generator)
                }
            }
        }
        let triple = try MergeTriple(RandomGraph.model) { store in
            for _ in 0..<2 { try change(store, &objects, steps / 2) }
        }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        var (oldObjects, sharedObjects) = (objects, objects)
        var moved: [RekeyedObject] = []
        for round in 1...2 {
            for _ in 0..<Int.random(in: 0...4, using: &generator) { try change(old, &oldObjects, sideSteps) }
            for _ in 0..<Int.random(in: 0...4, using: &generator) { try change(shared, &sharedObjects, sideSteps) }
            moved += try MergeRound(triple, number: round, seed: seed, moved: moved, &generator).check()
            guard round == 1, Int.random(in: 0..<3, using: &generator) == 0 else { break }
            try triple.renewBase()
            // Later saves are dated after the merge.
            (old.clock, shared.clock) = (2_000_000_000, 3_000_000_000)
        }
        print("triples merged: \(islands), seed \(seed)")
    }
}
