import ChangeMerging
import StoreFormat
import StoreVerification
import StoreWriting
import Testing

@Suite("Merging random stores")
struct StoreMergePropertyTests {
    @Test("The merged store holds what a plain merge in memory says", arguments: RandomTriples.seeds)
    func random(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try Self.check(seed, islands: 1, steps: 42, sideSteps: Int.random(in: 2...12, using: &generator))
    }

    @Test(
        "Many triples that know nothing of each other are merged as each by itself",
        arguments: RandomTriples.archipelagos
    )
    func islands(_ seed: UInt64) throws {
        try Self.check(1_000_000 + seed, islands: RandomTriples.islands, steps: 14, sideSteps: 2)
    }

    /// Makes a base of so many groups of objects, lets both sides go on with it, merges, and compares.
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
        for _ in 0..<Int.random(in: 0...4, using: &generator) { try change(old, &oldObjects, sideSteps) }
        for _ in 0..<Int.random(in: 0...4, using: &generator) { try change(shared, &sharedObjects, sideSteps) }

        let prefersOld = Bool.random(using: &generator)
        let settings = MergeSettings(
            policy: prefersOld ? .mergeByPropertyObjectTrump : .mergeByPropertyStoreTrump,
            source: Bool.random(using: &generator) ? .automatic : .scan
        )
        let sides = try triple.sides()
        if let base = sides.base { try compareCollectors(base, sides.old, seed) }
        var greatest: [String: (shared: Int64, old: Int64)] = [:]
        for root in sides.shared.roots {
            greatest[root] = (try sides.shared.greatestKey(of: root), try sides.old.greatestKey(of: root))
        }
        let former = [try PlainGraph(old), try PlainGraph(shared)]
        let expected = PlainGraph.merged(
            try PlainGraph(triple.store("base")),
            former[0],
            former[1],
            prefersOld: prefersOld,
            greatest: greatest
        )
        let orders = try ["base", "old", "shared"].map { try Self.orders(triple.store($0)) }
        let (plan, result) = try triple.merge(settings)
        try checkOrders(orders, Self.orders(shared), prefersOld: prefersOld, seed)
        let found = try PlainGraph(shared)
        #expect(found.objects == expected.objects, "objects, seed \(seed): \(plan)")
        #expect(
            found.pairs == expected.pairs,
            "seed \(seed): \(found.pairs.subtracting(expected.pairs)) instead of \(expected.pairs.subtracting(found.pairs))"
        )
        try checkBookkeeping(shared, plan, result, sides, seed)
        if let number = result.historyTransaction {
            let listed = try listed(shared, inTransaction: number, seed)
            for side in former { checkConsumer(of: side, found, listed, seed) }
        }
        let again = try triple.merge(settings).result.outcome
        #expect(again == (result.outcome == .merged ? .alreadyDone : .nothingToDo), "seed \(seed)")
    }

    private struct Owner: Hashable {
        let key: Int64
        let name: String
    }

    /// The members of every ordered relationship.
    private static func orders(_ store: MergeStore) throws -> [Owner: [Int64]] {
        var result: [Owner: [Int64]] = [:]
        let layout = store.writer.layout
        for entity in layout.entities.values {
            for place in entity.relationships
            where place.description.isOrdered && place.declaredBy == entity.name {
                try store.connection.forEachRow(PlainGraph.query(place, layout)) {
                    result[Owner(key: $0.integer(0), name: place.description.name), default: []].append($0.integer(1))
                }
            }
        }
        return result
    }

    /// Members that all three had stand as the side has them that moved them, or the preferred one where both did.
    private static func checkOrders(
        _ before: [[Owner: [Int64]]],
        _ merged: [Owner: [Int64]],
        prefersOld: Bool,
        _ seed: UInt64
    ) {
        for (owner, base) in before[0] {
            guard let old = before[1][owner], let shared = before[2][owner], let now = merged[owner] else { continue }
            let known = Set(base).intersection(old).intersection(shared)
            let lists = [base, old, shared].map { $0.filter(known.contains) }
            let oldMoved = lists[1] != lists[0]
            let sharedMoved = lists[2] != lists[0]
            let expected = oldMoved && (!sharedMoved || prefersOld) ? lists[1] : lists[2]
            let remaining = Set(now)
            #expect(
                now.filter(known.contains) == expected.filter(remaining.contains),
                "the order of \(owner), seed \(seed)"
            )
        }
    }

    /// History tells the same as the stores themselves.
    private static func compareCollectors(_ base: MergeSide, _ side: MergeSide, _ seed: UInt64) throws {
        guard let start = try ChangeCollector.historyStart(from: base, to: side) else { return }
        var collector = ChangeCollector(from: base, to: side)
        var (scanned, followed) = (try collector.scan(), try collector.follow(historyAfter: start))
        // Places may be given anew without a change of order; whoever looks at the orders finds out.
        scanned.reordered = []
        followed.reordered = []
        #expect(scanned == followed, "seed \(seed)")
    }

    /// Keys, versions and history are as Core Data would have them.
    private static func checkBookkeeping(
        _ store: MergeStore,
        _ plan: MergePlan,
        _ result: MergeResult,
        _ before: MergeSides,
        _ seed: UInt64
    ) throws {
        guard result.outcome == .merged else {
            #expect(plan.isIdle && result.outcome == .nothingToDo, "seed \(seed)")
            return
        }
        let number = try #require(result.historyTransaction)
        for side in [before.old, before.shared] {
            #expect(number > side.numbers.number(of: "TRANSACTION").flatMap(side.numbers.entry)?.max ?? 0)
        }
        let numbers = try #require(try EntityNumbers(reading: store.connection))
        for root in numbers.modelEntries where root.parent == 0 {
            let table = try store.writer.entity(root.name).table
            let last = try store.connection.value("SELECT max(Z_PK) FROM \(SQLName.quoted(table))")?.integer ?? 0
            #expect(root.max >= last, "\(root.name), seed \(seed)")
        }
        let findings = try StoreVerifier()
            .findings(
                in: store.connection,
                location: store.location,
                externalData: store.externalData(),
                level: .coredata
            )
        #expect(findings == [], "seed \(seed)")
        let listed = try listed(store, inTransaction: number, seed)
        let changed = Set(plan.listings.map(\.row)).union(plan.insertions.map(\.target)).union(plan.deletions.keys)
            .union(plan.restorations.keys)
        #expect(listed.isSuperset(of: changed), "not listed: \(changed.subtracting(listed)), seed \(seed)")
    }

    /// The objects that a transaction names.
    private static func listed(_ store: MergeStore, inTransaction number: Int64, _ seed: UInt64) throws -> Set<RowKey> {
        var listed: Set<RowKey> = []
        let history = try #require(PersistentHistory(schema: StoreSchema(reading: store.connection)))
        try history.forEachChange(reading: store.connection, ofTransaction: number) { change in
            guard let entity = change.entity.flatMap(store.writer.layout.entity(numbered:)), let key = change.primaryKey
            else { return }
            #expect(listed.insert(RowKey(root: entity.root, key: key)).inserted, "listed twice, seed \(seed)")
            #expect(change.kind != .update || change.properties(in: store.writer.layout) != nil, "seed \(seed)")
        }
        return listed
    }

    /// Whoever had read one of the stores to its end is told of everything that is different in the merged one.
    private static func checkConsumer(
        of side: PlainGraph,
        _ merged: PlainGraph,
        _ listed: Set<RowKey>,
        _ seed: UInt64
    ) {
        let keys = Set(side.objects.keys).union(merged.objects.keys)
        var changed = keys.filter { side.objects[$0] != merged.objects[$0] }
        for pair in side.pairs.symmetricDifference(merged.pairs) {
            // A place at the end of a relationship without an inverse is nobody's property.
            changed.insert(pair.owner)
            if RandomGraph.hasInverse(side.shape.relations[pair.relation].name) { changed.insert(pair.member) }
        }
        for key in changed {
            #expect(listed.contains(RowKey(root: key.root, key: key.number)), "\(key) is not told of, seed \(seed)")
        }
    }
}
