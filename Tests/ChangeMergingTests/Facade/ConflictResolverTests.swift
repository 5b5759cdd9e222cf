import ChangeMerging
import SafeFiles
import StoreAccess
import StoreVerification
import StoreWriting
import Synchronization
import TestSupport
import Testing

@Suite("Resolvers of conflicts")
struct ConflictResolverTests {
    private struct Refusal: Error {}

    private static let habit = StoreMergeTests.habit(1)

    private static func settings(
        _ policy: StoreMergePolicy = .mergeByPropertyStoreTrump,
        _ resolve: @escaping @Sendable (StoreMergeConflict) throws -> StoreMergeConflict.Resolution
    ) -> MergeSettings {
        var settings = MergeSettings(policy: policy)
        settings.resolver = ConflictResolver { try resolve($0) }
        return settings
    }

    /// Two sides that renamed one habit.
    private static func renamed() throws -> MergeTriple {
        let triple = try StoreMergeTests.triple()
        try triple.store("old").save { try $0.update(habit, ["name": .text("old"), "goal": .integer(1)]) }
        try triple.store("shared").save { try $0.update(habit, ["name": .text("shared")]) }
        return triple
    }

    @Test("An attribute takes what the resolver decides under every policy", arguments: StoreMergePolicy.allCases)
    func attribute(_ policy: StoreMergePolicy) throws {
        let decisions: [(StoreMergeConflict.Resolution, String, Set<MergeDirection>)] = [
            (.old, "old", [.shared]), (.shared, "shared", [.old]),
            (.value(.text(SQLText("both"))), "both", [.old, .shared]),
        ]
        for (decision, name, losers) in decisions {
            let triple = try Self.renamed()
            var parked: Set<MergeDirection> = []
            let (plan, _) = try triple.merge(
                Self.settings(policy) { conflict in
                    #expect(conflict.property == "name" && conflict.acceptsValue && !conflict.isResolved)
                    return decision
                },
                park: { parked.insert($0.side) }
            )
            let shared = try triple.store("shared")
            #expect(try shared.value("name", of: Self.habit) == .text(name))
            #expect(plan.conflicts.map(\.taken) == [decision] && plan.conflicts.allSatisfy(\.isResolved))
            #expect(parked.isSuperset(of: losers), "\(policy), \(decision)")
            // A value that only one side changed follows the policy.
            #expect(try shared.value("goal", of: Self.habit) == (policy == .rollback ? .null : .integer(1)))
        }
    }

    @Test("An object that one side deleted stays or goes as the resolver decides", arguments: [true, false])
    func deletion(_ isOldDeleter: Bool) throws {
        for keeps in [true, false] {
            let triple = try StoreMergeTests.triple()
            let (deleter, other) = isOldDeleter ? ("old", "shared") : ("shared", "old")
            try triple.store(deleter).save { try $0.delete(Self.habit) }
            try triple.store(other).save { try $0.update(Self.habit, ["goal": .integer(7)]) }
            let (plan, _) = try triple.merge(Self.settings(.error) { _ in keeps == isOldDeleter ? .shared : .old })
            let goal = try triple.store("shared").value("goal", of: Self.habit)
            #expect(goal == (keeps ? .integer(7) : nil))
            #expect(plan.conflicts.map(\.reason) == [.editedAndDeleted] && plan.conflicts[0].isResolved)
        }
    }

    @Test("An object that a surviving one needs stays against the resolver's decision, and the plan says who decided")
    func companion() throws {
        for policy in [StoreMergePolicy.error, .mergeByPropertyStoreTrump] {
            let triple = try StoreMergeTests.triple()
            try triple.store("old").save { try $0.delete(StoreMergeTests.category) }
            let shared = try triple.store("shared")
            try shared.save { try $0.update(StoreMergeTests.category, ["color": .integer(9)]) }
            try shared.save { try $0.update(Self.habit, ["goal": .integer(7)]) }
            let settings = Self.settings(policy) { $0.entity == "Category" ? .shared : .old }
            guard policy != .error else {
                #expect(try triple.plan(settings).summary.refusals == [.conflicts(1)])
                continue
            }
            let (plan, _) = try triple.merge(settings)
            let decisions = plan.conflicts.map { "\($0.entity) \($0.taken == .shared) \($0.isResolved)" }
            #expect(decisions.sorted() == ["Category true true", "Habit true false"])
            #expect(try shared.value("goal", of: Self.habit) == .integer(7))
        }
    }

    @Test("A to-one relationship takes the partner that the resolver chooses", arguments: [true, false])
    func partner(_ takesOld: Bool) throws {
        let triple = try StoreMergeTests.triple()
        for name in ["old", "shared"] {
            let store = try triple.store(name)
            let category = try store.insert("Category", ["title": .text(name)])
            try store.save { try $0.connect(category, "habits", to: Self.habit) }
        }
        try triple.merge(
            Self.settings(.error) { conflict in
                #expect(conflict.property == "category" && !conflict.acceptsValue)
                return takesOld ? .old : .shared
            }
        )
        let shared = try triple.store("shared")
        let category = try #require(try shared.writer.destinations(of: Self.habit, "category").first)
        #expect(try shared.value("title", of: category) == .text(takesOld ? "old" : "shared"))
    }

    @Test(
        "A plain row takes what the resolver decides, and what it leaves alone follows the policy",
        arguments: [
            (StoreMergeConflict.Resolution.old, "old 7 1", "new old"), (.shared, "shared 7 1", "new shared"),
            (.value(.text(SQLText("both"))), "both 7 1", "both"),
        ]
    )
    func plain(_ decision: StoreMergeConflict.Resolution, _ updated: String, _ inserted: String) throws {
        let triple = try PlainTriple(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, m INTEGER); INSERT INTO t VALUES (1, 'base', 0, 0)"
                + "; CREATE TABLE k (code TEXT PRIMARY KEY, name TEXT); INSERT INTO k VALUES ('gone', 'base')"
        )
        try triple.execute(
            "UPDATE t SET name = 'old', n = 7; INSERT INTO k VALUES ('x', 'new old'); DELETE FROM k WHERE code = 'gone'",
            in: "old"
        )
        try triple.execute(
            "UPDATE t SET name = 'shared', m = 1; INSERT INTO k VALUES ('x', 'new shared');"
                + "UPDATE k SET name = 'edited' WHERE code = 'gone'",
            in: "shared"
        )
        let (summary, _) = try triple.merge(
            Self.settings(.error) { $0.reason == .editedAndDeleted ? .shared : decision }
        )
        #expect(try triple.rows("SELECT name, n, m FROM t") == [updated])
        #expect(try triple.rows("SELECT name FROM k WHERE code = 'x'") == [inserted])
        #expect(try triple.rows("SELECT name FROM k WHERE code = 'gone'") == ["edited"])
        #expect(summary.conflicts.count == 3 && summary.conflicts.allSatisfy(\.isResolved))
    }

    @Test(
        "A value that the property cannot have, and an error, stop the merge and change nothing",
        arguments: [
            ("code", StoreMergeConflict.Resolution.value(.text(SQLText("c9"))), "it can only choose a side"),
            ("name", .value(.integer(1)), "a value of another kind"),
            ("name", .value(.null), "a value of another kind"),
            ("name", nil, ""),
        ]
    )
    func refused(_ attribute: String, _ decision: StoreMergeConflict.Resolution?, _ message: String) throws {
        let triple = try StoreMergeTests.triple()
        for name in ["old", "shared"] {
            try triple.store(name).save { try $0.update(Self.habit, [attribute: .text(name)]) }
        }
        let before = try PlainGraph(triple.store("shared"))
        let error = #expect(throws: (any Error).self) {
            try triple.merge(
                Self.settings { _ in
                    guard let decision else { throw Refusal() }
                    return decision
                }
            )
        }
        #expect(error.map { "\($0)".contains(message) } == true, "\(error.map { "\($0)" } ?? "")")
        #expect(try PlainGraph(triple.store("shared")).objects == before.objects)
    }

    @Test("A value outside the range of the attribute's type stops the merge", arguments: [40_000, -32_769])
    func outOfRange(_ number: Int64) throws {
        let triple = try StoreMergeTests.triple()
        for (name, color) in [("old", 2), ("shared", 3)] {
            try triple.store(name).save { try $0.update(StoreMergeTests.category, ["color": .integer(Int64(color))]) }
        }
        let error = #expect(throws: StoreError.self) {
            try triple.merge(Self.settings { _ in .value(.integer(number)) })
        }
        #expect(error?.description.contains("Category.color a value that its type cannot have") == true)
        #expect(try triple.store("shared").value("color", of: StoreMergeTests.category) == .integer(3))
        _ = try triple.merge(Self.settings { _ in .value(.integer(Int64(Int16.min))) })
        #expect(try triple.store("shared").value("color", of: StoreMergeTests.category) == .integer(Int64(Int16.min)))
    }

    @Test(
        "A resolver that repeats the policy's decisions changes nothing of a random merge",
        arguments: Seed.several(12)
    )
    func repeating(_ seed: UInt64) throws {
        for policy in StoreMergePolicy.allCases where policy != .error {
            let (plain, resolved) = (try Self.random(seed), try Self.random(seed))
            let expected = try plain.merge(MergeSettings(policy: policy)).plan
            let found = try resolved.merge(Self.settings(policy) { $0.taken }).plan
            #expect(found.conflicts.map(\.taken) == expected.conflicts.map(\.taken), "seed \(seed), \(policy)")
            let graphs = (try PlainGraph(plain.store("shared")), try PlainGraph(resolved.store("shared")))
            #expect(graphs.0.objects == graphs.1.objects && graphs.0.pairs == graphs.1.pairs, "seed \(seed), \(policy)")
        }
    }

    @Test("A merge with arbitrary decisions is sound, and is rolled back exactly", arguments: Seed.several(12))
    func undone(_ seed: UInt64) throws {
        let triple = try Self.random(seed)
        let shared = try triple.store("shared")
        let before = try PlainGraph(shared)
        let settings = Self.settings(.error) { conflict in
            // Equal conflicts get equal decisions.
            switch (conflict.key.description + (conflict.property ?? "")).utf8.reduce(0, { $0 &+ Int($1) }) % 3 {
            case 0: .old
            case 1: .shared
            default: if conflict.acceptsValue, case .value(let value) = conflict.old { .value(value) } else { .shared }
            }
        }
        let plan = try triple.plan(settings)
        guard plan.summary.refusals.isEmpty, !plan.summary.isIdle else { return }
        let file = try triple.folder.directory.createFile("record", mode: 0o600)
        _ = try plan.carryOut(
            MergeRun(
                epoch: "1",
                deadline: Deadline(after: .seconds(60)),
                record: { try ChangesetRecording($0, externalData: shared.externalData(), to: file) }
            )
        )
        #expect(try StoreVerifier().verify(shared.location, level: .coredata).passed, "seed \(seed)")
        _ = try MergeUndo(reading: triple.folder.directory.openFile("record", for: .reading))
            .undo(in: shared.place(), deadline: Deadline(after: .seconds(60)))
        let after = try PlainGraph(shared)
        #expect(after.objects == before.objects && after.pairs == before.pairs, "seed \(seed)")
    }

    /// Three stores that were changed at random.
    private static func random(_ seed: UInt64) throws -> MergeTriple {
        var generator = SeededGenerator(seed: seed)
        func change(_ store: MergeStore, _ steps: Int) throws {
            var objects = try store.objects()
            try store.save { try RandomGraph.change(&objects, $0, steps: steps, &generator) }
        }
        let triple = try MergeTriple(RandomGraph.model) { store in for _ in 0..<3 { try change(store, 14) } }
        for name in ["old", "shared"] { for _ in 0..<3 { try change(try triple.store(name), 8) } }
        return triple
    }

    @Test("The compliance test accepts a resolver that keeps the contract, and names what another does")
    func compliance() async throws {
        try await ConflictResolverComplianceTest(ConflictResolver { $0.taken }).run()
        let count = Mutex(0)
        let wrong: [(ConflictResolver, String)] = [
            (ConflictResolver(all: { _ in [] }), "decides 0 of 9 conflicts"),
            (ConflictResolver { _ in .value(.text(SQLText("x"))) }, "gives Entity.relationship a value"),
            (
                ConflictResolver { _ in
                    let number = count.withLock { count -> Int in
                        count += 1
                        return count
                    }
                    return number % 2 == 0 ? .old : .shared
                },
                "decides otherwise when it is asked again"
            ),
            (
                ConflictResolver(all: { $0.count == 1 ? [.old] : $0.map { _ in .shared } }),
                "decides otherwise about a conflict that comes alone"
            ),
        ]
        for (resolver, message) in wrong {
            let failure = await #expect(throws: ConflictResolverComplianceTest.Failure.self) {
                try await ConflictResolverComplianceTest(resolver).run()
            }
            #expect(failure?.description.contains(message) == true, "\(failure?.description ?? "")")
        }
    }
}
