import ChangeMerging
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Merging to-many relationships")
struct ToManyMergeTests {
    private static let category = StoreMergeTests.category

    /// Every policy, and the order after a merge in which both sides moved members.
    static let orders: [(StoreMergePolicy, [Int64])] = [
        (.error, [2, 1, 3]), (.mergeByPropertyStoreTrump, [2, 1, 3]), (.mergeByPropertyObjectTrump, [3, 1, 2]),
        (.overwrite, [3, 1, 2]), (.rollback, [2, 1, 3]), (.newest, [2, 1, 3]),
    ]

    @Test("If both sides moved members, the policy decides about the order", arguments: orders)
    func movedOnBothSides(_ policy: StoreMergePolicy, _ order: [Int64]) throws {
        let triple = try StoreMergeTests.triple()
        for (name, moved) in [("old", [3, 1, 2]), ("shared", [2, 1, 3])] as [(String, [Int64])] {
            try triple.store(name)
                .save { try $0.arrange(Self.category, "habits", in: moved.map(StoreMergeTests.habit)) }
        }

        let (plan, _) = try triple.merge(MergeSettings(policy: policy))

        #expect(plan.conflicts.isEmpty)
        let members = try triple.store("shared").writer.destinations(of: Self.category, "habits")
        #expect(members.map(\.primaryKey) == order)
    }

    @Test(
        "The members of two matched objects have no common order, so the policy decides",
        arguments: [
            (StoreMergePolicy.mergeByPropertyStoreTrump, [1, 2, 3]), (.mergeByPropertyObjectTrump, [3, 1, 2]),
        ] as [(StoreMergePolicy, [Int64])]
    )
    func matchedOwner(_ policy: StoreMergePolicy, _ order: [Int64]) throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        // The old side replaces the category by one with the same title. The shared side's edit keeps the former one.
        let anew = try old.insert("Category", ["title": .text("health")])
        try old.save { writer in
            for number in [3, 1, 2] as [Int64] { try writer.connect(anew, "habits", to: StoreMergeTests.habit(number)) }
        }
        try old.save { try $0.delete(Self.category) }
        try shared.save { try $0.update(Self.category, ["color": .integer(9)]) }

        let settings = MergeSettings(policy: policy, identities: ["Category": ["title"]])
        let (plan, _) = try triple.merge(settings)

        #expect(plan.remapping.joinedCount == 1)
        #expect(try shared.objects().filter { $0.entity == "Category" } == [Self.category])
        #expect(try shared.writer.destinations(of: Self.category, "habits").map(\.primaryKey) == order)
    }

    private static func toMany(
        _ name: String,
        _ destination: String,
        _ inverse: String,
        isOrdered: Bool = false,
        isTransient: Bool = false
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name,
            destination: destination,
            inverse: inverse,
            maxCount: 0,
            isOrdered: isOrdered,
            isTransient: isTransient
        )
    }

    @Test("Members of a relationship that is its own inverse are merged without an order")
    func ownInverse() throws {
        let friends = Self.toMany("friends", "Person", "friends", isOrdered: true)
        let model = ManagedObjectModel(entities: [EntityDescription(name: "Person", relationships: [friends])])
        let triple = try MergeTriple(model) { store in for _ in 1...3 { try store.insert("Person") } }
        let people = try triple.store("base").objects()
        try triple.store("old")
            .save { writer in
                for friend in people.dropFirst() { try writer.connect(people[0], "friends", to: friend) }
            }

        let summary = try triple.plan().summary
        #expect(summary.connected == 2)
        #expect(summary.reordered == 0)

        try triple.merge()
        #expect(
            try Set(triple.store("shared").writer.destinations(of: people[0], "friends")) == Set(people.dropFirst())
        )
    }

    @Test("Both sides' pairs of a many-to-many relationship are merged, although the inverse is transient")
    func transientInverse() throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(name: "Note", relationships: [Self.toMany("tags", "Tag", "notes")]),
            EntityDescription(name: "Tag", relationships: [Self.toMany("notes", "Note", "tags", isTransient: true)]),
        ])
        let triple = try MergeTriple(model) { store in
            for entity in ["Note", "Note", "Tag"] { try store.insert(entity) }
        }
        let objects = try triple.store("base").objects()
        let (notes, tag) = (objects.filter { $0.entity == "Note" }, try #require(objects.last))
        for (name, note) in zip(["old", "shared"], notes) {
            try triple.store(name).save { try $0.connect(note, "tags", to: tag) }
        }

        let (plan, _) = try triple.merge()

        #expect(plan.conflicts.isEmpty)
        let shared = try triple.store("shared")
        for note in notes { #expect(try shared.writer.destinations(of: note, "tags") == [tag]) }
    }
}
