import ChangeMerging
import StoreFormat
import StoreVerification
import StoreWriting
import Testing

@Suite("Merging random stores")
struct StoreMergePropertyTests {
    private static func relationship(
        _ name: String,
        _ destination: String,
        _ inverse: String?,
        many: Bool = false,
        ordered: Bool = false,
        _ rule: RelationshipDescription.DeleteRule = .nullify
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name,
            destination: destination,
            inverse: inverse,
            maxCount: many ? 0 : 1,
            isOrdered: ordered,
            deleteRule: rule
        )
    }

    /// Every kind of relationship, between entities of which one has a subentity.
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Person",
            attributes: [
                AttributeDescription(name: "age", type: .integer64), AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "photo", type: .binaryData, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [
                relationship("spouse", "Person", "spouseOf"),
                relationship("spouseOf", "Person", "spouse"),
                relationship("friends", "Person", "friends", many: true),
                relationship("fancies", "Pet", nil),
                relationship("pets", "Pet", "keeper", many: true, ordered: true, .cascade),
                relationship("clubs", "Club", "members", many: true, ordered: true),
                relationship("debts", "Debt", "debtor", many: true, .deny),
                relationship("marks", "Mark", nil, many: true),
            ]
        ),
        EntityDescription(
            name: "Child",
            superentity: "Person",
            attributes: [AttributeDescription(name: "grade", type: .integer16)],
            relationships: [relationship("toy", "Pet", "playmate")]
        ),
        EntityDescription(
            name: "Pet",
            attributes: [AttributeDescription(name: "weight", type: .double)],
            relationships: [
                relationship("keeper", "Person", "pets"), relationship("playmate", "Child", "toy"),
            ]
        ),
        EntityDescription(
            name: "Club",
            relationships: [relationship("members", "Person", "clubs", many: true, ordered: true)]
        ),
        EntityDescription(name: "Debt", relationships: [relationship("debtor", "Person", "debts")]),
        EntityDescription(name: "Mark", attributes: [AttributeDescription(name: "day", type: .date)]),
    ])

    @Test("The merged store holds what a plain merge in memory says", arguments: RandomTriples.seeds)
    func random(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let triple = try MergeTriple(Self.model) { store in
            for _ in 0..<3 { try Self.change(store, 14, &generator) }
        }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let steps = Int.random(in: 2...12, using: &generator)
        for _ in 0..<Int.random(in: 0...4, using: &generator) { try Self.change(old, steps, &generator) }
        for _ in 0..<Int.random(in: 0...4, using: &generator) { try Self.change(shared, steps, &generator) }

        var settings = MergeSettings()
        let prefersOld = Bool.random(using: &generator)
        settings.policy = prefersOld ? .mergeByPropertyObjectTrump : .mergeByPropertyStoreTrump
        settings.source = Bool.random(using: &generator) ? .automatic : .scan
        let sides = try triple.sides()
        if let base = sides.base { try Self.compareCollectors(base, sides.old, seed) }
        var greatest: [String: (shared: Int64, old: Int64)] = [:]
        for root in sides.shared.roots {
            greatest[root] = (try sides.shared.greatestKey(of: root), try sides.old.greatestKey(of: root))
        }
        let expected = PlainGraph.merged(
            try PlainGraph(triple.store("base")),
            try PlainGraph(old),
            try PlainGraph(shared),
            prefersOld: prefersOld,
            greatest: greatest
        )
        let orders = try ["base", "old", "shared"].map { try Self.orders(triple.store($0)) }
        let (plan, outcome) = try triple.merge(settings)
        try Self.checkOrders(orders, Self.orders(shared), prefersOld: prefersOld, seed)
        let found = try PlainGraph(shared)
        #expect(found.objects == expected.objects, "objects, seed \(seed): \(plan)")
        #expect(
            found.pairs == expected.pairs,
            "seed \(seed): \(found.pairs.subtracting(expected.pairs)) instead of \(expected.pairs.subtracting(found.pairs))"
        )
        try Self.checkBookkeeping(shared, plan, outcome, sides, seed)
        let again = try triple.merge(settings).result.outcome
        #expect(again == (outcome.outcome == .merged ? .alreadyDone : .nothingToDo), "seed \(seed)")
    }

    private struct Owner: Hashable {
        let key: ObjectKey
        let name: String
    }

    /// The members of every ordered relationship.
    private static func orders(_ store: MergeStore) throws -> [Owner: [Int64]] {
        var result: [Owner: [Int64]] = [:]
        for key in try store.objects() {
            for relationship in model.relationships(of: key.entity) where relationship.isOrdered {
                result[Owner(key: key, name: relationship.name)] =
                    try store.writer.destinations(of: key, relationship.name).map(\.primaryKey)
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
        var listed: Set<RowKey> = []
        let history = try #require(PersistentHistory(schema: StoreSchema(reading: store.connection)))
        try history.forEachChange(reading: store.connection, ofTransaction: number) { change in
            guard let entity = change.entity.flatMap(store.writer.layout.entity(numbered:)), let key = change.primaryKey
            else { return }
            #expect(listed.insert(RowKey(root: entity.root, key: key)).inserted, "listed twice, seed \(seed)")
            #expect(change.kind != .update || change.properties(in: store.writer.layout) != nil, "seed \(seed)")
        }
        let changed = Set(plan.listings.map(\.row)).union(plan.insertions.map(\.target)).union(plan.deletions.keys)
            .union(plan.restorations.keys)
        #expect(listed.isSuperset(of: changed), "not listed: \(changed.subtracting(listed)), seed \(seed)")
    }

    /// Random changes in one save.
    private static func change(_ store: MergeStore, _ steps: Int, _ generator: inout SeededGenerator) throws {
        try store.save { writer in
            for _ in 0..<steps { try step(store, writer, &generator) }
        }
    }

    private static func step(_ store: MergeStore, _ writer: RowWriter, _ generator: inout SeededGenerator) throws {
        let objects = try store.objects()
        let owner = objects.randomElement(using: &generator)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0...2:
            let entity = ["Person", "Child", "Pet", "Club", "Debt", "Mark"].randomElement(using: &generator) ?? "Pet"
            let key = ObjectKey(entity: entity, primaryKey: try writer.allocateKeys(for: entity, count: 1))
            try writer.insert(key, [:])
            try change(key, writer, &generator)
        case 3...4:
            // A rule may deny it.
            if let owner, objects.count > 5 { try? writer.delete(owner) }
        case 5...6: if let owner { try change(owner, writer, &generator) }
        default:
            guard let owner,
                let relationship = model.relationships(of: owner.entity).randomElement(using: &generator)
            else { return }
            let present = try writer.destinations(of: owner, relationship.name)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where !present.isEmpty:
                let gone = present[Int.random(in: present.indices, using: &generator)]
                try writer.disconnect(owner, relationship.name, from: gone)
            case 1 where relationship.isOrdered && present.count > 1:
                try writer.arrange(owner, relationship.name, in: present.shuffled(using: &generator))
            default:
                let candidates = objects.filter { model.isEntity($0.entity, kindOf: relationship.destination) }
                guard let destination = candidates.randomElement(using: &generator) else { return }
                try writer.connect(owner, relationship.name, to: destination)
            }
        }
    }

    private static func change(_ key: ObjectKey, _ writer: RowWriter, _ generator: inout SeededGenerator) throws {
        let attributes = model.attributes(of: key.entity)
        guard let attribute = attributes.randomElement(using: &generator) else { return }
        let number = Int64.random(in: 0..<50, using: &generator)
        let value: SQLValue =
            switch attribute.type {
            case .string: number == 0 ? .null : .text("name \(number)")
            case .double, .date: .real(Double(number) + 0.5)
            case .binaryData:
                // Large values differ, so that no two files hold the same bytes.
                .blob(
                    [UInt8](
                        repeating: UInt8(number),
                        count: number < 3 ? 110_000 + Int.random(in: 0..<10_000, using: &generator) : Int(number)
                    )
                )
            default: .integer(number)
            }
        try writer.update(key, [attribute.name: value])
    }
}
