import ChangeMerging
import SafeFiles
import StoreAccess
import StoreWriting
import Testing

/// Every cell of the merge table, under every policy.
@Suite("Policies of a store merge")
struct MergePolicyTests {
    /// The habit's name and goal after the merge; nil if it was deleted.
    struct Result: Equatable {
        var name: SQLValue = .text("habit 1")
        var goal: SQLValue = .null
    }

    /// What both sides do to one object, and the result of each policy; without a result the merge is refused.
    struct Cell: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var isOldLater = false
        let old: @Sendable (RowWriter) throws -> Void
        let shared: @Sendable (RowWriter) throws -> Void
        let results: [StoreMergePolicy: Result?]
        /// The side whose row is parked.
        var parked: [StoreMergePolicy: MergeDirection] = [:]
        var conflicts = 0
    }

    private static let habit = StoreMergeTests.habit(1)
    private static let settled: [StoreMergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback, .newest,
    ]

    private static func update(_ values: [String: SQLValue]) -> @Sendable (RowWriter) throws -> Void {
        { try $0.update(habit, values) }
    }

    private static func all(_ result: Result?) -> [StoreMergePolicy: Result?] {
        Dictionary(uniqueKeysWithValues: StoreMergePolicy.allCases.map { ($0, result) })
    }

    static let cells: [Cell] = [
        Cell(
            testDescription: "only the old side changed it",
            old: update(["goal": .integer(7)]),
            shared: { _ in },
            results: all(Result(goal: .integer(7)))
        ),
        Cell(
            testDescription: "only the shared side changed it",
            old: { try $0.update(StoreMergeTests.habit(2), ["goal": .integer(1)]) },
            shared: update(["goal": .integer(8)]),
            results: all(Result(goal: .integer(8)))
        ),
        Cell(
            testDescription: "both made the same change",
            old: update(["goal": .integer(9)]),
            shared: update(["goal": .integer(9)]),
            results: all(Result(goal: .integer(9)))
        ),
        Cell(
            testDescription: "both deleted it",
            old: { try $0.delete(habit) },
            shared: { try $0.delete(habit) },
            results: all(nil)
        ),
        Cell(
            testDescription: "only the old side deleted it",
            old: { try $0.delete(habit) },
            shared: { _ in },
            results: all(nil)
        ),
        Cell(
            testDescription: "only the shared side deleted it",
            old: { try $0.update(StoreMergeTests.habit(2), ["goal": .integer(1)]) },
            shared: { try $0.delete(habit) },
            results: all(nil)
        ),
        Cell(
            testDescription: "both changed it, in different columns",
            old: update(["goal": .integer(7)]),
            shared: update(["name": .text("shared")]),
            results: [
                .mergeByPropertyStoreTrump: Result(name: .text("shared"), goal: .integer(7)),
                .mergeByPropertyObjectTrump: Result(name: .text("shared"), goal: .integer(7)),
                .newest: Result(name: .text("shared"), goal: .integer(7)),
                .overwrite: Result(goal: .integer(7)), .rollback: Result(name: .text("shared")),
            ],
            parked: [.overwrite: .shared, .rollback: .old]
        ),
        Cell(
            testDescription: "both changed the same column",
            old: update(["name": .text("old"), "goal": .integer(7)]),
            shared: update(["name": .text("shared")]),
            results: [
                .mergeByPropertyStoreTrump: Result(name: .text("shared"), goal: .integer(7)),
                .mergeByPropertyObjectTrump: Result(name: .text("old"), goal: .integer(7)),
                .newest: Result(name: .text("shared"), goal: .integer(7)),
                .overwrite: Result(name: .text("old"), goal: .integer(7)), .rollback: Result(name: .text("shared")),
            ],
            parked: [
                .mergeByPropertyStoreTrump: .old, .mergeByPropertyObjectTrump: .shared, .newest: .old,
                .overwrite: .shared, .rollback: .old,
            ],
            conflicts: 1
        ),
        Cell(
            testDescription: "both changed the same column, the old side later",
            isOldLater: true,
            old: update(["name": .text("old")]),
            shared: update(["name": .text("shared")]),
            results: [
                .mergeByPropertyStoreTrump: Result(name: .text("shared")),
                .mergeByPropertyObjectTrump: Result(name: .text("old")), .newest: Result(name: .text("old")),
                .overwrite: Result(name: .text("old")), .rollback: Result(name: .text("shared")),
            ],
            parked: [
                .mergeByPropertyStoreTrump: .old, .mergeByPropertyObjectTrump: .shared, .newest: .shared,
                .overwrite: .shared, .rollback: .old,
            ],
            conflicts: 1
        ),
        Cell(
            testDescription: "the old side deleted it, the shared one changed it",
            old: { try $0.delete(habit) },
            shared: update(["goal": .integer(8)]),
            results: [
                .mergeByPropertyStoreTrump: Result(goal: .integer(8)),
                .mergeByPropertyObjectTrump: Result(goal: .integer(8)), .newest: Result(goal: .integer(8)),
                .overwrite: nil, .rollback: Result(goal: .integer(8)),
            ],
            parked: [.overwrite: .shared],
            conflicts: 1
        ),
        Cell(
            testDescription: "the shared side deleted it, the old one changed it",
            old: update(["goal": .integer(7)]),
            shared: { try $0.delete(habit) },
            results: [
                .mergeByPropertyStoreTrump: Result(goal: .integer(7)),
                .mergeByPropertyObjectTrump: Result(goal: .integer(7)), .newest: Result(goal: .integer(7)),
                .overwrite: Result(goal: .integer(7)), .rollback: nil,
            ],
            parked: [.rollback: .old],
            conflicts: 1
        ),
    ]

    @Test("Each combination of changes gives the result of its policy", arguments: cells, StoreMergePolicy.allCases)
    func cell(_ cell: Cell, _ policy: StoreMergePolicy) throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        if cell.isOldLater { old.clock = 3000 }
        try old.save(cell.old)
        try shared.save(cell.shared)
        let merge = try triple.plan(MergeSettings(policy: policy))
        guard let expected = cell.results[policy] else {
            #expect(merge.summary.refusals == [.conflicts(1)] && merge.summary.conflicts.count == 1)
            return
        }
        #expect(merge.summary.refusals.isEmpty && merge.summary.conflicts.count == cell.conflicts)
        let parked = ParkedRowRestorer()
        _ = try merge.carryOut(
            MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60)), park: { parked.rows.append($0) })
        )
        let values = try shared.side().stored(["name", "goal"], of: "Habit", 1)
        #expect(values.map { Result(name: $0["name"] ?? .null, goal: $0["goal"] ?? .null) } == expected)
        #expect(parked.rows.map(\.side) == (cell.parked[policy].map { [$0] } ?? []))
    }

    @Test("A policy can be set per entity, and subentities inherit it")
    func byEntity() throws {
        let triple = try StoreMergeTests.triple()
        for name in ["old", "shared"] {
            try triple.store(name)
                .save {
                    try $0.update(Self.habit, ["name": .text(name)])
                    try $0.update(StoreMergeTests.category, ["title": .text(name)])
                }
        }
        let (plan, _) = try triple.merge(MergeSettings(policies: ["Habit": .mergeByPropertyObjectTrump]))
        let shared = try triple.store("shared")
        #expect(plan.conflicts.count == 2)
        #expect(try shared.value("name", of: Self.habit) == .text("old"))
        #expect(try shared.value("title", of: StoreMergeTests.category) == .text("shared"))
    }

    @Test(
        "Under the policy newest, a to-one that both sides set takes the later partner",
        arguments: [true, false]
    )
    func newestPartner(_ isOldLater: Bool) throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        if isOldLater { old.clock = 3000 }
        for (store, title) in [(old, "old"), (shared, "shared")] {
            let category = try store.insert("Category", ["title": .text(title)])
            try store.save { try $0.connect(category, "habits", to: Self.habit) }
        }
        let (plan, _) = try triple.merge(MergeSettings(policy: .newest))
        #expect(plan.conflicts.map(\.property) == ["category"])
        let category = try #require(try shared.writer.destinations(of: Self.habit, "category").first)
        #expect(try shared.value("title", of: category) == .text(isOldLater ? "old" : "shared"))
    }

    @Test(
        "If the old side emptied a to-one and the shared side set it, the policy decides",
        arguments: [
            (.mergeByPropertyStoreTrump, "shared"), (.mergeByPropertyObjectTrump, nil), (.overwrite, nil),
            (.rollback, "shared"),
        ] as [(StoreMergePolicy, SQLText?)]
    )
    func emptiedToOne(_ policy: StoreMergePolicy, _ title: SQLText?) throws {
        let triple = try StoreMergeTests.triple()
        let shared = try triple.store("shared")
        try triple.store("old").save { try $0.disconnect(StoreMergeTests.category, "habits", from: Self.habit) }
        let other = try shared.insert("Category", ["title": .text("shared")])
        try shared.save { try $0.connect(other, "habits", to: Self.habit) }

        let (plan, _) = try triple.merge(MergeSettings(policy: policy))

        #expect(plan.conflicts.map(\.property) == ["category"])
        let titles = try shared.writer.destinations(of: Self.habit, "category")
            .map { try shared.value("title", of: $0) }
        #expect(titles == (title.map { [.text($0)] } ?? []))
    }

    @Test("Under the policy newest without history, the shared value stays and the merge notes it")
    func timesUnknown() throws {
        let triple = try StoreMergeTests.triple(tracksHistory: false)
        try triple.store("old").save { try $0.update(Self.habit, ["name": .text("old")]) }
        try triple.store("shared").save { try $0.update(Self.habit, ["name": .text("shared")]) }
        let merge = try triple.plan(MergeSettings(policy: .newest))
        #expect(merge.summary.conflicts.map(\.taken) == [.shared])
        #expect(merge.summary.notes.map(\.kind) == [.timesUnknown] && merge.summary.notes.map(\.property) == ["name"])
    }

    @Test("An edit that survives a deletion is noted")
    func note() throws {
        let triple = try StoreMergeTests.triple()
        try triple.store("old").save { try $0.delete(Self.habit) }
        try triple.store("shared").save { try $0.update(Self.habit, ["goal": .integer(1)]) }
        #expect(try triple.plan().summary.notes == [MergeNote(.editSurvivedDeletion, entity: "Habit", count: 1)])
    }
}
