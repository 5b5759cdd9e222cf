import ChangeMerging
import SafeFiles
import StoreAccess
import StoreWriting
import TestSupport
import Testing

@Suite("Parking rows")
struct ParkingTests {
    @Test("Rows are parked in the planned state although another process writes to the store meanwhile")
    func plannedState() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        for number in [1, 2] as [Int64] {
            try old.save { try $0.update(StoreMergeTests.habit(number), ["name": .text("old")]) }
            try shared.save { try $0.update(StoreMergeTests.habit(number), ["name": .text("shared")]) }
        }
        let process = try MergeStore(shared.location, in: triple.folder.directory, StoreMergeTests.model)
        process.clock = 5000
        var names: [StoredValue?] = []

        let error = #expect(throws: StoreError.self) {
            try triple.merge(MergeSettings(policy: .mergeByPropertyObjectTrump)) { row in
                names.append(row.values["name"])
                guard names.count == 1 else { return }
                try process.save { try $0.update(StoreMergeTests.habit(2), ["name": .text("later")]) }
            }
        }

        #expect(error?.code == .changedMeanwhile)
        #expect(names == [.text("shared"), .text("shared")])
        #expect(try shared.value("name", of: StoreMergeTests.habit(2)) == .text("later"))
    }

    @Test("The old side's rows of a table are parked before the shared side's, each in the order of their keys")
    func order() throws {
        let triple = try PlainTriple(
            PlainMergeTests.people + "INSERT INTO person VALUES (4, 'dan', 'd@x', 60), (5, 'eve', 'e@x', 70)"
        )
        try triple.execute(
            """
            UPDATE person SET age = 98 WHERE id IN (1, 3); UPDATE person SET mail = 'p@x' WHERE id = 2;
            UPDATE person SET mail = 'q@x' WHERE id = 4;
            """,
            in: "old"
        )
        // The shared side takes the unique values that the old side gave to the second and the fourth row.
        try triple.execute(
            """
            UPDATE person SET age = 99 WHERE id IN (1, 3); UPDATE person SET mail = 'p@x' WHERE id = 5;
            INSERT INTO person VALUES (6, 'fay', 'q@x', 80);
            """,
            in: "shared"
        )

        try triple.merge(MergeSettings(policy: .mergeByPropertyObjectTrump))

        #expect(triple.parked.map(\.side) == [.old, .old, .shared, .shared])
        #expect(triple.parked.map(\.key) == [2, 4, 1, 3].map { [.integer($0)] })
    }

    @Test("A parked row of a plain store names its row in the shared store, and none if the merge deletes that row")
    func targets() throws {
        let triple = try PlainTriple(PlainMergeTests.people)
        try triple.execute("UPDATE person SET age = 31 WHERE id = 1; DELETE FROM pet WHERE id = 1", in: "old")
        try triple.execute(
            "UPDATE person SET age = 32 WHERE id = 1; UPDATE pet SET name = 'max' WHERE id = 1",
            in: "shared"
        )

        try triple.merge(MergeSettings(policy: .overwrite))

        #expect(try triple.rows("SELECT age FROM person WHERE id = 1") == ["31"])
        #expect(try triple.rows("SELECT id FROM pet") == ["2"])
        #expect(triple.parked.map(\.entity) == ["person", "pet"])
        #expect(triple.parked.map(\.side) == [.shared, .shared])
        #expect(triple.parked.map(\.target) == [[.integer(1)], nil])
    }
}
