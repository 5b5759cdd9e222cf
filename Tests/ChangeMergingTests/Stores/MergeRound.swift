import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification
import StoreWriting
import TestSupport
import Testing

/// One merge of two random stores, and all its checks.
struct MergeRound {
    let triple: MergeTriple
    let number: Int
    let seed: UInt64
    let settings: MergeSettings
    /// The keys that earlier merges changed.
    let moved: [RekeyedObject]

    private var prefersOld: Bool { settings.policy == .mergeByPropertyObjectTrump }
    private var name: String { "seed \(seed), round \(number)" }

    init(
        _ triple: MergeTriple,
        number: Int,
        seed: UInt64,
        moved: [RekeyedObject],
        _ generator: inout SeededGenerator
    ) {
        self.triple = triple
        self.number = number
        self.seed = seed
        self.moved = moved
        settings = MergeSettings(
            policy: Bool.random(using: &generator) ? .mergeByPropertyObjectTrump : .mergeByPropertyStoreTrump,
            source: Bool.random(using: &generator) ? .automatic : .scan
        )
    }

    /// Merges, compares, and returns the keys that the merge changed.
    func check() throws -> [RekeyedObject] {
        let (base, old, shared) = (
            try triple.store("base"), try triple.store("old"), try triple.store("shared")
        )
        let sides = try triple.sides()
        if let base = sides.base { try compareCollectors(base, sides.old) }
        var greatest: [String: (shared: Int64, old: Int64)] = [:]
        for root in sides.shared.roots {
            greatest[root] = (try sides.shared.greatestKey(of: root), try sides.old.greatestKey(of: root))
        }
        var known: [PlainGraph.Key: Int64] = [:]
        for object in moved {
            let root = try shared.writer.entity(object.entity).root
            known[PlainGraph.Key(root: root, number: object.old.primaryKey)] = object.new.primaryKey
        }
        let former = [try PlainGraph(old), try PlainGraph(shared)]
        let spoken = PlainGraph.spoken(try PlainGraph(base), former[0], moved: known)
        let expected = PlainGraph.merged(
            spoken.base,
            spoken.old,
            former[1],
            prefersOld: prefersOld,
            greatest: greatest
        )
        let orders = try ["base", "old", "shared"].map { try Self.orders(triple.store($0)) }
        let merge = try triple.plan(settings, moved: moved)
        let plan = merge.plan
        let run = MergeRun(epoch: "\(number)", deadline: Deadline(after: .seconds(60)))
        let result = try merge.carryOut(run)
        if moved.isEmpty { try checkOrders(orders, Self.orders(shared)) }
        let found = try PlainGraph(shared)
        let differing = Set(found.objects.keys).union(expected.objects.keys)
            .filter { found.objects[$0] != expected.objects[$0] }
        #expect(differing.isEmpty, "objects, \(name): \(plan)")
        #expect(
            found.pairs == expected.pairs,
            "\(name): \(found.pairs.subtracting(expected.pairs)) instead of \(expected.pairs.subtracting(found.pairs))"
        )
        try checkBookkeeping(shared, plan, result, sides)
        if let number = result.historyTransaction {
            let listed = try listed(shared, inTransaction: number)
            for side in former { checkConsumer(of: side, found, listed) }
        }
        let again = try triple.plan(settings, moved: moved).carryOut(run).outcome
        #expect(again == (result.outcome == .merged ? .alreadyDone : .nothingToDo), "\(name)")
        var rekeyed: [RekeyedObject] = []
        try merge.forEachRekeyedObject { rekeyed.append($0) }
        return rekeyed
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

    /// Common members have the order of the side that moved them, or the preferred side's if both did.
    private func checkOrders(_ before: [[Owner: [Int64]]], _ merged: [Owner: [Int64]]) {
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
                "the order of \(owner), \(name)"
            )
        }
    }

    /// History gives the same changes as a comparison of the stores.
    private func compareCollectors(_ base: MergeSide, _ side: MergeSide) throws {
        guard let start = try ChangeCollector.historyStart(from: base, to: side) else { return }
        var collector = ChangeCollector(from: base, to: side)
        var (scanned, followed) = (try collector.scan(), try collector.follow(historyAfter: start))
        // Order keys may change without a change of order, which only a comparison of the orders shows.
        scanned.reordered = []
        followed.reordered = []
        #expect(scanned == followed, "\(name)")
    }

    /// Keys, versions and history match Core Data's rules.
    private func checkBookkeeping(
        _ store: MergeStore,
        _ plan: MergePlan,
        _ result: MergeResult,
        _ before: MergeSides
    ) throws {
        guard result.outcome == .merged else {
            #expect(plan.isIdle && result.outcome == .nothingToDo, "\(name)")
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
            #expect(root.max >= last, "\(root.name), \(name)")
        }
        let findings = try StoreVerifier()
            .findings(
                in: store.connection,
                location: store.location,
                externalData: store.externalData(),
                level: .coredata
            )
        #expect(findings == [], "\(name)")
        let listed = try listed(store, inTransaction: number)
        let changed = Set(plan.listings.map(\.row)).union(plan.insertions.map(\.target)).union(plan.deletions.keys)
            .union(plan.restorations.keys)
        #expect(listed.isSuperset(of: changed), "not listed: \(changed.subtracting(listed)), \(name)")
    }

    /// The objects that a transaction lists.
    private func listed(_ store: MergeStore, inTransaction number: Int64) throws -> Set<RowKey> {
        var listed: Set<RowKey> = []
        let history = try #require(PersistentHistory(schema: StoreSchema(reading: store.connection)))
        try history.forEachChange(reading: store.connection, ofTransaction: number) { change in
            guard let entity = change.entity.flatMap(store.writer.layout.entity(numbered:)), let key = change.primaryKey
            else { return }
            #expect(listed.insert(RowKey(root: entity.root, key: key)).inserted, "listed twice, \(name)")
            #expect(change.kind != .update || change.properties(in: store.writer.layout) != nil, "\(name)")
        }
        return listed
    }

    /// A consumer that had read one store's history to its end finds all differences of the merged one.
    private func checkConsumer(
        of side: PlainGraph,
        _ merged: PlainGraph,
        _ listed: Set<RowKey>
    ) {
        let keys = Set(side.objects.keys).union(merged.objects.keys)
        var changed = keys.filter { side.objects[$0] != merged.objects[$0] }
        for pair in side.pairs.symmetricDifference(merged.pairs) {
            let hasInverse = RandomGraph.hasInverse(side.shape.relations[pair.relation].name)
            if hasInverse { changed.insert(pair.member) }
            // Without an inverse the owner's change is not listed when a member is deleted; the member's own deletion
            // is.
            let isMemberKept = side.objects[pair.member] != nil && merged.objects[pair.member] != nil
            if hasInverse || isMemberKept { changed.insert(pair.owner) }
        }
        for key in changed {
            #expect(listed.contains(RowKey(root: key.root, key: key.number)), "\(key) is not listed, \(name)")
        }
    }
}
