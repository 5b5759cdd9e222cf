import ChangeMerging
import Testing

@Suite("Merging three states of one object")
struct ThreeWayMergeTests {
    /// One cell of the table: a policy, both sides' changes to the property `p` (base 0), and the expected value in the
    /// store.
    struct Cell: CustomTestStringConvertible, Sendable {
        let policy: MergePolicy
        let column: Column
        let outcome: MergeOutcome<Int>

        var testDescription: String { "\(policy), \(column.rawValue)" }
    }

    enum Column: String, Sendable, CaseIterable {
        case local = "changed here only"
        case store = "changed in the store only"
        case both = "changed in both"
        case deletedThere = "deleted there, changed here"
        case deletedHere = "deleted here, changed there"
        case equal = "changed to the same in both"

        var merge: ThreeWayMerge<Int> {
            let base = ["p": 0, "q": 9]
            // The object always has a change here, else it would not be saved, and one in the store, else its version
            // would match.
            return switch self {
            case .local: ThreeWayMerge(base: base, local: .changed(["p": 1]), store: .changed(["p": 0, "q": 9]))
            case .store: ThreeWayMerge(base: base, local: .changed(["q": 8]), store: .changed(["p": 2]))
            case .both: ThreeWayMerge(base: base, local: .changed(["p": 1]), store: .changed(["p": 2, "q": 9]))
            case .deletedThere: ThreeWayMerge(base: base, local: .changed(["p": 1]), store: .deleted)
            case .deletedHere: ThreeWayMerge(base: base, local: .deleted, store: .changed(["p": 2]))
            case .equal: ThreeWayMerge(base: base, local: .changed(["p": 3]), store: .changed(["p": 3]))
            }
        }
    }

    static let table: [Cell] = {
        let cells: [MergePolicy: [MergeOutcome<Int>]] = [
            .error: [.fail, .fail, .fail, .fail, .fail, .keep],
            .mergeByPropertyStoreTrump: [
                .write(["p": 1], toMany: [:]), .write(["q": 8], toMany: [:]), .keep, .keep, .keep, .keep,
            ],
            .mergeByPropertyObjectTrump: [
                .write(["p": 1], toMany: [:]), .write(["q": 8], toMany: [:]), .write(["p": 1], toMany: [:]),
                .restore(["p": 1, "q": 9], toMany: [:]), .delete, .keep,
            ],
            .overwrite: [
                .write(["p": 1], toMany: [:]), .write(["p": 0, "q": 8], toMany: [:]), .write(["p": 1], toMany: [:]),
                .restore(["p": 1, "q": 9], toMany: [:]), .delete, .keep,
            ],
            .rollback: [.keep, .keep, .keep, .keep, .keep, .keep],
        ]
        return MergePolicy.allCases.flatMap { policy in
            zip(Column.allCases, cells[policy] ?? []).map { Cell(policy: policy, column: $0, outcome: $1) }
        }
    }()

    @Test("Each combination of changes and policy gives the documented result", arguments: table)
    func cell(_ cell: Cell) {
        #expect(cell.column.merge.outcome(by: cell.policy) == cell.outcome)
    }

    @Test("The table covers every policy and combination of changes")
    func complete() {
        #expect(Self.table.count == MergePolicy.allCases.count * Column.allCases.count)
    }

    @Test("An object deleted on both sides needs no action", arguments: MergePolicy.allCases)
    func deletedTwice(_ policy: MergePolicy) {
        #expect(ThreeWayMerge(base: ["p": 0], local: .deleted, store: .deleted).outcome(by: policy) == .keep)
    }

    @Test("Members of a to-many are merged as changes, and added members that no longer exist are omitted")
    func toMany() {
        let change = ToManyChange(added: [5, 6], removed: [1])
        let merge = ThreeWayMerge(
            base: ["p": 0],
            local: .changed([:], toMany: ["members": change, "others": ToManyChange(added: [6])]),
            store: .changed(["p": 2], toMany: ["members": ToManyChange(added: [7], removed: [2])]),
            absent: [6]
        )
        let expected = MergeOutcome<Int>.write([:], toMany: ["members": ToManyChange(added: [5], removed: [1])])
        #expect(merge.outcome(by: .mergeByPropertyStoreTrump) == expected)
        #expect(merge.outcome(by: .mergeByPropertyObjectTrump) == expected)
        #expect(merge.outcome(by: .rollback) == .keep)
        #expect(merge.outcome(by: .error) == .fail)
        #expect(change.applied(to: [1, 2, 3]) == [2, 3, 5, 6])
        #expect(ToManyChange(from: [1, 2], to: [2, 3]) == ToManyChange(added: [3], removed: [1]))
    }

    @Test("A to-one to a deleted object takes the store's value", arguments: MergePolicy.allCases)
    func danglingToOne(_ policy: MergePolicy) {
        let merge = ThreeWayMerge(
            base: ["p": 0, "one": 4],
            local: .changed(["one": 6]),
            store: .changed(["p": 2]),
            absent: [6]
        )
        switch merge.outcome(by: policy) {
        case .write(let values, _): #expect(values["one"] == nil)
        case .keep, .fail: break
        case .delete, .restore: Issue.record("nothing was deleted")
        }
        let gone = ThreeWayMerge(base: ["p": 0], local: .changed(["one": 6]), store: .deleted, absent: [6])
        #expect(gone.outcome(by: .overwrite) == .restore(["p": 0], toMany: [:]))
        // The former partner is taken instead, if it still exists.
        let former = ThreeWayMerge(base: ["one": 4], local: .changed(["one": 6]), store: .deleted, absent: [6])
        #expect(former.outcome(by: .overwrite) == .restore(["one": 4], toMany: [:]))
    }

    @Test("Overwriting does not restore a base value that cannot be written any more")
    func danglingBase() {
        let merge = ThreeWayMerge(
            base: ["p": 0, "one": 4],
            local: .changed(["p": 1]),
            store: .changed(["one": 5]),
            absent: [4]
        )
        #expect(merge.outcome(by: .overwrite) == .write(["p": 1], toMany: [:]))
    }

    @Test(
        "An object deleted in the store is not restored because it lost members here",
        arguments: MergePolicy.allCases
    )
    func onlyLostMembers(_ policy: MergePolicy) {
        let merge = ThreeWayMerge(
            base: ["p": 0],
            local: .changed([:], toMany: ["members": ToManyChange(removed: [1])]),
            store: .deleted
        )
        #expect(merge.outcome(by: policy) == (policy == .error ? .fail : .keep))
    }

    @Test("A conflict lists the properties that both sides changed, and provides its merge")
    func conflict() {
        let conflict = MergeConflict(
            object: "o",
            oldVersion: 1,
            newVersion: 2,
            base: ["a": 0, "b": 0, "c": 0],
            local: ["a": 1, "b": 1, "c": 0],
            store: ["a": 2, "b": 1, "c": 3]
        )
        #expect(conflict.merge.contestedProperties == ["a"])
        #expect(conflict.merge.outcome(by: .mergeByPropertyObjectTrump) == .write(["a": 1], toMany: [:]))
    }
}
