import ChangeMerging
import Testing

@Suite("Deciding between objects with the same unique values")
struct UniquenessMergeTests {
    private static let inserted = UniquenessMerge(
        constraint: ["id"],
        base: nil,
        given: ["id": 1, "name": 5],
        values: ["id": 1, "name": 5, "colour": 0]
    )
    private static let changed = UniquenessMerge(
        constraint: ["id", "realm"],
        base: ["id": 2, "realm": 4, "name": 3, "colour": 0],
        given: ["id": 1, "name": 5],
        values: ["id": 1, "realm": 4, "name": 5, "colour": 0]
    )

    @Test(
        "A new object with taken unique values fails, is discarded or merged into the existing one",
        arguments: zip(
            MergePolicy.allCases,
            [.fail, .discard, .give(["id": 1, "name": 5]), .give(["id": 1, "name": 5, "colour": 0]), .discard]
                as [UniquenessMerge<Int>.Outcome]
        )
    )
    func insertion(_ policy: MergePolicy, _ outcome: UniquenessMerge<Int>.Outcome) {
        #expect(Self.inserted.outcome(by: policy) == outcome)
    }

    @Test(
        "A changed object with taken unique values fails, reverts, or replaces the other",
        arguments: zip(
            MergePolicy.allCases,
            [.fail, .revert(["id": 2]), .deleteOther, .deleteOther, .revert(["id": 2, "name": 3])]
                as [UniquenessMerge<Int>.Outcome]
        )
    )
    func update(_ policy: MergePolicy, _ outcome: UniquenessMerge<Int>.Outcome) {
        #expect(Self.changed.outcome(by: policy) == outcome)
    }
}
