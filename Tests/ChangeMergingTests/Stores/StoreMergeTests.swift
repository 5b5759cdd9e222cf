import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Merging two stores")
struct StoreMergeTests {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Category",
            attributes: [
                AttributeDescription(name: "title", type: .string),
                AttributeDescription(name: "color", type: .integer16),
            ],
            relationships: [
                RelationshipDescription(
                    name: "habits",
                    destination: "Habit",
                    inverse: "category",
                    maxCount: 0,
                    isOrdered: true,
                    deleteRule: .cascade
                )
            ]
        ),
        EntityDescription(
            name: "Habit",
            attributes: [
                AttributeDescription(name: "name", type: .string), AttributeDescription(name: "goal", type: .integer64),
                AttributeDescription(
                    name: "code",
                    type: .string,
                    preservesValueInHistoryOnDeletion: true
                ),
            ],
            relationships: [RelationshipDescription(name: "category", destination: "Category", inverse: "habits")],
            uniquenessConstraints: [["code"]]
        ),
    ])

    /// A base with one category that has three habits.
    static func triple(tracksHistory: Bool = true) throws -> MergeTriple {
        try MergeTriple(model, tracksHistory: tracksHistory) { store in
            let category = try store.insert("Category", ["title": .text("health"), "color": .integer(1)])
            for number in 1...3 {
                let habit = try store.insert("Habit", ["name": .text("habit \(number)"), "code": .text("c\(number)")])
                try store.save { try $0.connect(category, "habits", to: habit) }
            }
        }
    }

    static let category = ObjectKey(entity: "Category", primaryKey: 1)
    static func habit(_ number: Int64) -> ObjectKey { ObjectKey(entity: "Habit", primaryKey: number) }

    @Test("Objects with the same key on both sides stay two, and references to the old one follow it")
    func sameKey() throws {
        let triple = try Self.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let late = try old.insert("Category", ["title": .text("late")])
        let member = try old.insert("Habit", ["name": .text("late habit"), "code": .text("late")])
        try old.save { try $0.connect(late, "habits", to: member) }
        let other = try shared.insert("Category", ["title": .text("other")])
        #expect(late == other)
        let (plan, _) = try triple.merge()
        let target = try #require(plan.remapping.rekeyed.first?.target)
        #expect(target.reason == .newKey && target.own == late.primaryKey && target.key == 3)
        let moved = ObjectKey(entity: "Category", primaryKey: target.key)
        #expect(try shared.value("title", of: moved) == .text("late"))
        #expect(try shared.value("title", of: other) == .text("other"))
        #expect(try shared.writer.destinations(of: moved, "habits").map(\.primaryKey) == [4])
    }

    @Test("Objects with the same unique value inserted on both sides are one object")
    func doubleInsertion() throws {
        let triple = try Self.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.insert("Habit", ["code": .text("new"), "goal": .integer(5), "name": .text("old name")])
        try shared.insert("Habit", ["code": .text("other")])
        let same = try shared.insert("Habit", ["code": .text("new"), "name": .text("shared name")])
        let (plan, _) = try triple.merge()
        #expect(plan.insertions == [] && plan.conflicts.map(\.property) == ["name"])
        #expect(try shared.value("name", of: same) == .text("shared name"))
        #expect(try shared.value("goal", of: same) == .integer(5))
    }

    @Test("An identity in the settings matches objects")
    func identity() throws {
        let triple = try Self.triple()
        try triple.store("old").insert("Category", ["title": .text("sport")])
        try triple.store("shared").insert("Category", ["title": .text("work")])
        try triple.store("shared").insert("Category", ["title": .text("sport")])
        var settings = MergeSettings()
        settings.identities = ["Category": ["title"]]
        let (plan, _) = try triple.merge(settings)
        #expect(plan.remapping.rekeyed.map(\.target.key) == [3] && plan.insertions == [])
    }

    @Test("An object that its partner identifies is matched after it, though its entity's name comes first")
    func identityOfPartner() throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Item",
                attributes: [AttributeDescription(name: "name", type: .string)],
                relationships: [RelationshipDescription(name: "owner", destination: "Person", inverse: "items")]
            ),
            EntityDescription(
                name: "Person",
                attributes: [AttributeDescription(name: "name", type: .string)],
                relationships: [
                    RelationshipDescription(name: "items", destination: "Item", inverse: "owner", maxCount: 0)
                ]
            ),
        ])
        let triple = try MergeTriple(model) { _ in }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        for store in [old, shared] {
            let person = try store.insert("Person", ["name": .text("ann")])
            let item = try store.insert("Item", ["name": .text("book")])
            try store.save { try $0.connect(person, "items", to: item) }
        }

        let (plan, _) = try triple.merge(MergeSettings(identities: ["Item": ["name", "owner"], "Person": ["name"]]))

        #expect(plan.insertions == [] && plan.remapping.joinedCount == 2)
        #expect(try shared.objects().map(\.entity) == ["Item", "Person"])
    }

    @Test(
        "Changes of different attributes are merged; for the same attribute the policy decides, and the loser is parked"
    )
    func attributes() throws {
        for policy in [StoreMergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump] {
            let triple = try Self.triple()
            let (old, shared) = (try triple.store("old"), try triple.store("shared"))
            try old.save { try $0.update(Self.habit(1), ["goal": .integer(7), "name": .text("old")]) }
            try shared.save { try $0.update(Self.habit(1), ["code": .text("x"), "name": .text("shared")]) }
            var settings = MergeSettings()
            settings.policy = policy
            var parked: [ParkedRow] = []
            try triple.merge(settings) { parked.append($0) }
            let takesOld = policy == .mergeByPropertyObjectTrump
            #expect(try shared.value("goal", of: Self.habit(1)) == .integer(7))
            #expect(try shared.value("code", of: Self.habit(1)) == .text("x"))
            #expect(try shared.value("name", of: Self.habit(1)) == .text(takesOld ? "old" : "shared"))
            #expect(parked.map(\.side) == [takesOld ? .shared : .old])
            #expect(parked.first?.values["name"] == .text(takesOld ? "shared" : "old"))
            #expect(parked.first?.partners["category"] == [1])
        }
    }

    @Test("Under the policy error a conflict refuses the merge")
    func refusal() throws {
        let triple = try Self.triple()
        try triple.store("old").save { try $0.update(Self.habit(1), ["name": .text("old")]) }
        try triple.store("shared").save { try $0.update(Self.habit(1), ["name": .text("shared")]) }
        var settings = MergeSettings()
        settings.policy = .error
        let plan = try triple.plan(settings).summary
        #expect(plan.refusals == [.conflicts(1)])
        #expect(throws: StoreError.self) { try triple.merge(settings) }
    }

    @Test(
        "An edited object survives its deletion on the other side, with the objects of the cascade",
        arguments: [true, false]
    )
    func editedAndDeleted(_ oldDeletes: Bool) throws {
        let triple = try Self.triple()
        let shared = try triple.store("shared")
        try triple.store(oldDeletes ? "old" : "shared").save { try $0.delete(Self.category) }
        try triple.store(oldDeletes ? "shared" : "old").save { try $0.update(Self.category, ["color": .integer(9)]) }
        let (plan, _) = try triple.merge()
        #expect(plan.conflicts.map(\.reason) == [.editedAndDeleted])
        #expect(try shared.value("color", of: Self.category) == .integer(9))
        #expect(try shared.writer.destinations(of: Self.category, "habits") == [1, 2, 3].map(Self.habit))
        // A reader of the deleted object must not mistake the restored one for it.
        if !oldDeletes { #expect(try shared.writer.version(of: Self.category) ?? 0 > 4) }
    }

    @Test("An object whose new partner the old side deleted takes the old side's new partner under overwrite")
    func partnerDeleted() throws {
        let triple = try MergeTriple(Self.model) { store in
            for title in ["first", "second"] { _ = try store.insert("Category", ["title": .text(title)]) }
            let habit = try store.insert("Habit", ["name": .text("habit")])
            try store.save { try $0.connect(Self.category, "habits", to: habit) }
        }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let second = ObjectKey(entity: "Category", primaryKey: 2)
        let late = try old.insert("Category", ["title": .text("late")])
        try old.save { try $0.connect(late, "habits", to: Self.habit(1)) }
        try old.save { try $0.delete(second) }
        try shared.save { try $0.connect(second, "habits", to: Self.habit(1)) }
        try triple.merge(MergeSettings(policy: .overwrite))
        let partner = try #require(try shared.writer.destinations(of: Self.habit(1), "category").first)
        #expect(try shared.value("title", of: partner) == .text("late"))
        #expect(try shared.value("title", of: second) == nil)
    }

    @Test("An object that one side deleted is deleted with its delete rules, and history keeps tombstones")
    func deletion() throws {
        let triple = try Self.triple()
        let shared = try triple.store("shared")
        try triple.store("old").save { try $0.delete(Self.category) }
        try triple.merge()
        #expect(try shared.objects() == [])
        let kept =
            "SELECT group_concat(ZTOMBSTONE0) FROM (SELECT ZTOMBSTONE0 FROM ACHANGE WHERE ZTOMBSTONE0 NOT NULL ORDER BY 1)"
        #expect(try shared.connection.value(kept) == .text("c1,c2,c3"))
    }

    @Test("A unique value that moved between objects on the old side moves in the shared store")
    func uniqueValueLeft() throws {
        let triple = try Self.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.save { try $0.update(Self.habit(1), ["code": .text("c9")]) }
        try old.save { try $0.update(Self.habit(2), ["code": .text("c1")]) }
        try old.save { try $0.update(Self.habit(1), ["code": .text("c2")]) }
        let (plan, _) = try triple.merge()
        #expect(plan.conflicts == [])
        #expect(try shared.value("code", of: Self.habit(1)) == .text("c2"))
        #expect(try shared.value("code", of: Self.habit(2)) == .text("c1"))
    }

    @Test("A unique value that another shared object took stays there, and the old row is parked")
    func uniqueValueTaken() throws {
        let triple = try Self.triple()
        let shared = try triple.store("shared")
        try triple.store("old").save { try $0.update(Self.habit(1), ["code": .text("wanted"), "goal": .integer(3)]) }
        try shared.save { try $0.update(Self.habit(2), ["code": .text("wanted")]) }
        var parked: [ParkedRow] = []
        let (plan, _) = try triple.merge { parked.append($0) }
        #expect(plan.conflicts.map(\.reason) == [.uniqueValues])
        #expect(plan.conflicts.map(\.old) == [.value(.text("wanted"))])
        #expect(plan.conflicts.map(\.shared) == [.value(.text("c1"))])
        #expect(try shared.value("code", of: Self.habit(1)) == .text("c1"))
        #expect(try shared.value("goal", of: Self.habit(1)) == .integer(3))
        #expect(parked.map(\.key) == [[.integer(1)]])
    }

    @Test("A new object that requires a taken unique value is parked with its relationships, and not inserted")
    func requiredUniqueValueTaken() throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Box",
                relationships: [
                    RelationshipDescription(name: "items", destination: "Item", inverse: "box", maxCount: 0)
                ]
            ),
            EntityDescription(
                name: "Item",
                attributes: [AttributeDescription(name: "code", type: .string, isOptional: false)],
                relationships: [RelationshipDescription(name: "box", destination: "Box", inverse: "items")],
                uniquenessConstraints: [["code"]]
            ),
        ])
        let triple = try MergeTriple(model) { store in
            try store.insert("Box")
            try store.insert("Item", ["code": .text("a")])
        }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let objects = try shared.objects()
        let late = try old.insert("Item", ["code": .text("wanted")])
        try old.save { try $0.connect(objects[0], "items", to: late) }
        try shared.save { try $0.update(objects[1], ["code": .text("wanted")]) }
        var parked: [ParkedRow] = []

        let (plan, _) = try triple.merge { parked.append($0) }

        #expect(plan.insertions.isEmpty)
        #expect(try shared.objects() == objects)
        #expect(parked.map(\.reason) == [.uniqueValues])
        #expect(parked.map { $0.partners["box"] } == [[objects[0].primaryKey]])
    }

    @Test("An order that only the old side changed is merged")
    func order() throws {
        let triple = try Self.triple()
        let shared = try triple.store("shared")
        try triple.store("old").save { try $0.arrange(Self.category, "habits", in: [3, 1, 2].map(Self.habit)) }
        let added = try shared.insert("Habit", ["code": .text("c4")])
        try shared.save { try $0.connect(Self.category, "habits", to: added) }
        try triple.merge()
        #expect(try shared.writer.destinations(of: Self.category, "habits") == [3, 4, 1, 2].map(Self.habit))
    }

    @Test("A merge is one transaction after both histories, and lists the changes of both sides")
    func history() throws {
        let triple = try Self.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        for number in 0..<9 { try old.save { try $0.update(Self.habit(1), ["goal": .integer(Int64(number))]) } }
        try shared.save { try $0.update(Self.habit(2), ["goal": .integer(1)]) }
        let last = try old.connection.value("SELECT max(Z_PK) FROM ATRANSACTION")?.integer ?? 0
        let result = try triple.merge().result
        #expect(result.outcome == .merged && result.historyTransaction == last + 1)
        let listed =
            "SELECT group_concat(ZENTITYPK) FROM (SELECT ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID = ? ORDER BY 1)"
        #expect(try shared.connection.value(listed, [.integer(last + 1)]) == .text("1,2"))
    }

    @Test("An unchanged old store merges nothing")
    func idle() throws {
        let triple = try Self.triple()
        try triple.store("shared").save { try $0.delete(Self.habit(1)) }
        let transactions = "SELECT count(*) FROM ATRANSACTION"
        let count = try triple.store("shared").connection.value(transactions)
        let (plan, result) = try triple.merge()
        #expect(plan.isIdle && result.outcome == .nothingToDo)
        #expect(try triple.store("shared").connection.value(transactions) == count)
    }

    @Test("A plan is not executed on a store that changed since")
    func changedMeanwhile() throws {
        let triple = try Self.triple()
        try triple.store("old").save { try $0.delete(Self.habit(1)) }
        let merge = try triple.plan()
        try triple.store("shared").save { try $0.update(Self.habit(1), ["goal": .integer(1)]) }
        #expect {
            _ = try merge.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))
        } throws: { ($0 as? StoreError)?.code == .changedMeanwhile }
    }
}
