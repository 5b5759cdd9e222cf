import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

/// Known failures of other merge implementations, as regression tests.
@Suite("Known failures of merges do not occur")
struct MergeStoryTests {
    @Test("Two stores filled independently are merged by their objects' identities")
    func twoPlaces() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try shared.connection.execute("UPDATE Z_METADATA SET Z_UUID = '0E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11'")
        let late = try old.insert("Habit", ["code": .text("old only"), "name": .text("late")])
        try old.save { try $0.connect(StoreMergeTests.category, "habits", to: late) }
        let other = try shared.insert("Habit", ["code": .text("shared only")])
        try shared.save { try $0.update(StoreMergeTests.habit(1), ["goal": .integer(3)]) }
        let merge = try StoreMerger(
            base: nil,
            old: old.place(),
            shared: shared.place(),
            settings: MergeSettings(identities: ["Category": ["title"]])
        )
        .plan()
        #expect(merge.summary.refusals.isEmpty && merge.summary.joined == 4 && merge.summary.inserted == 1)
        // The matched objects, and the late one under another key.
        #expect(merge.summary.rekeyed == 5)
        _ = try merge.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))
        var rekeyed: [RekeyedObject] = []
        try merge.forEachRekeyedObject { rekeyed.append($0) }
        let moved = try #require(rekeyed.first { $0.reason == .newKey })
        #expect(moved.old.storeUUID != moved.new.storeUUID && moved.old.primaryKey == late.primaryKey)
        let habits = try shared.writer.destinations(of: StoreMergeTests.category, "habits").map(\.primaryKey)
        #expect(habits == [1, 2, 3, moved.new.primaryKey] && other.primaryKey == late.primaryKey)
        #expect(try shared.value("goal", of: StoreMergeTests.habit(1)) == .integer(3))
        #expect(try shared.objects().count == 6)
    }

    @Test("An unchanged old store changes nothing, even if the new one was changed a lot")
    func staleStore() throws {
        let triple = try StoreMergeTests.triple()
        let shared = try triple.store("shared")
        try shared.save {
            try $0.update(StoreMergeTests.habit(1), ["name": .text("newer")])
            try $0.delete(StoreMergeTests.habit(2))
        }
        let before = try StoreDigest(of: shared.connection, externalData: nil)
        #expect(try triple.merge().result.outcome == .nothingToDo)
        #expect(try StoreDigest(of: shared.connection, externalData: nil) == before)
    }

    @Test("Late writes of a process that opened the old store before the copy are found and merged")
    func lateWriter() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let writer = try MergeStore(old.location, in: triple.folder.directory, StoreMergeTests.model)
        writer.clock = 5000
        _ = try triple.plan()
        let late = try writer.insert("Habit", ["code": .text("late"), "name": .text("late")])
        #expect(try triple.merge().plan.insertions.count == 1)
        #expect(try shared.value("name", of: late) == .text("late"))
    }

    @Test("The same natural key on both sides is one object with an identity, and two without")
    func naturalKey() throws {
        for identities in [["Category": ["title"]], [:]] {
            let triple = try StoreMergeTests.triple()
            for name in ["old", "shared"] { try triple.store(name).insert("Category", ["title": .text("sport")]) }
            try triple.merge(MergeSettings(identities: identities))
            let count = try triple.store("shared").objects().count { $0.entity == "Category" }
            #expect(count == (identities.isEmpty ? 3 : 2))
        }
    }

    @Test("Objects that a relationship and an attribute identify are one object only if the objects at it are one")
    func identityThroughRelationship() throws {
        let triple = try StoreMergeTests.triple()
        for name in ["old", "shared"] {
            let store = try triple.store(name)
            // Other keys on both sides: the category is the same by its title.
            if name == "old" { try store.insert("Category", ["title": .text("filler")]) }
            let sport = try store.insert("Category", ["title": .text("sport")])
            for (category, word) in [(sport, "in"), (StoreMergeTests.category, "out")] {
                // The old side's second habit has a name of its own.
                let title = word == "out" && name == "old" ? "swim" : "run"
                let habit = try store.insert("Habit", ["code": .text(name + word), "name": .text(title)])
                try store.save { try $0.connect(category, "habits", to: habit) }
            }
        }
        let identities = ["Category": ["title"], "Habit": ["category", "name"]]
        let merged = try triple.merge(MergeSettings(identities: identities))
        #expect(merged.plan.remapping.joinedCount == 2)
        let shared = try triple.store("shared")
        let names = try shared.objects().filter { $0.entity == "Habit" }
            .compactMap { try shared.value("name", of: $0)?.text }
        #expect(names.count { $0 == "run" } == 2 && names.count { $0 == "swim" } == 1)
    }

    @Test("An object that one side deleted and recreated with the same values is matched by its values")
    func insertionAfterDeletion() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.save { try $0.delete(StoreMergeTests.habit(1)) }
        let anew = try old.insert("Habit", ["code": .text("c1"), "name": .text("anew")])
        try shared.save { try $0.update(StoreMergeTests.habit(2), ["goal": .integer(2)]) }
        let (plan, _) = try triple.merge()
        #expect(plan.conflicts == [] && anew.primaryKey == 4)
        #expect(try shared.value("code", of: anew) == .text("c1"))
        #expect(try shared.value("name", of: StoreMergeTests.habit(1)) == nil)
        #expect(try shared.value("goal", of: StoreMergeTests.habit(2)) == .integer(2))
    }

    @Test("Members that both sides added or removed are merged as sets")
    func toMany() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        for store in [old, shared] {
            let habit = try store.insert("Habit", ["code": .text(store.location.name)])
            try store.save { try $0.connect(StoreMergeTests.category, "habits", to: habit) }
        }
        try old.save { try $0.delete(StoreMergeTests.habit(2)) }
        try shared.save { try $0.disconnect(StoreMergeTests.category, "habits", from: StoreMergeTests.habit(3)) }
        let (plan, _) = try triple.merge()
        let members = try shared.writer.destinations(of: StoreMergeTests.category, "habits")
        #expect(Set(members.map(\.primaryKey)) == [1, 4, 5] && plan.conflicts == [])
        #expect(try shared.objects().contains(StoreMergeTests.habit(3)))
    }

    @Test("A merge runs only once: not again under the same name, and not with an up-to-date base")
    func twice() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.insert("Habit", ["code": .text("late")])
        try shared.insert("Habit", ["code": .text("other")])
        #expect(try triple.merge(epoch: "first").result.outcome == .merged)
        let digest = try StoreDigest(of: shared.connection, externalData: nil)
        #expect(try triple.merge(epoch: "first").result.outcome == .alreadyDone)
        // After the merge the old store is the base of the next one.
        let next = try StoreMerger(base: old.place(), old: old.place(), shared: shared.place()).plan()
        let run = MergeRun(epoch: "second", deadline: Deadline(after: .seconds(60)))
        #expect(try next.summary.isIdle && next.carryOut(run).outcome == .nothingToDo)
        #expect(try StoreDigest(of: shared.connection, externalData: nil) == digest)
        #expect(try StoreMerger.epoch(of: shared.connection) == "first")
    }

    @Test("A second merge takes only new changes, and objects with moved keys keep them")
    func again() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        for store in [old, shared] { try store.insert("Category", ["title": .text(store.location.name)]) }
        let first = try triple.plan()
        _ = try first.carryOut(MergeRun(epoch: "first", deadline: Deadline(after: .seconds(60))))
        var moved: [RekeyedObject] = []
        try first.forEachRekeyedObject { moved.append($0) }
        #expect(try shared.objects().count { $0.entity == "Category" } == 3)
        // The old store at the time of the merge.
        try old.connection.execute("VACUUM INTO '\(triple.folder.directory.path)/next.sqlite'")
        let base = try MergeStore(
            StoreLocation(folder: triple.folder.directory.path, name: "next.sqlite"),
            in: triple.folder.directory,
            StoreMergeTests.model
        )
        // The late category keeps its key in the old store, although another category has that key in the shared store.
        let late = ObjectKey(entity: "Category", primaryKey: 2)
        try old.save {
            try $0.update(StoreMergeTests.habit(3), ["goal": .integer(3)])
            try $0.update(late, ["title": .text("renamed")])
            try $0.connect(late, "habits", to: StoreMergeTests.habit(3))
        }
        let merge = try StoreMerger(
            base: base.place(),
            old: old.place(),
            shared: shared.place(),
            moved: moved
        )
        .plan()
        #expect(merge.summary.updated == 2 && merge.summary.inserted == 0 && merge.summary.deleted == 0)
        #expect(merge.summary.conflicts.isEmpty)
        #expect(
            try merge.carryOut(MergeRun(epoch: "second", deadline: Deadline(after: .seconds(60)))).outcome == .merged
        )
        #expect(try shared.objects().count { $0.entity == "Category" } == 3)
        #expect(try shared.value("goal", of: StoreMergeTests.habit(3)) == .integer(3))
        #expect(try shared.value("title", of: late) == .text("shared.sqlite"))
        let target = ObjectKey(entity: "Category", primaryKey: 3)
        #expect(try shared.value("title", of: target) == .text("renamed"))
        #expect(try shared.writer.destinations(of: target, "habits") == [StoreMergeTests.habit(3)])
    }

    @Test("A second merge moves a member away from an object that has another key in the shared store")
    func memberOfMovedObject() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        let late = try old.insert("Category", ["title": .text("late")])
        try old.save { try $0.connect(late, "habits", to: StoreMergeTests.habit(3)) }
        #expect(try shared.insert("Category", ["title": .text("other")]) == late)
        let first = try triple.plan()
        _ = try first.carryOut(MergeRun(epoch: "first", deadline: Deadline(after: .seconds(60))))
        var moved: [RekeyedObject] = []
        try first.forEachRekeyedObject { moved.append($0) }
        try triple.renewBase()
        try old.save { try $0.connect(StoreMergeTests.category, "habits", to: StoreMergeTests.habit(3)) }

        let second = try triple.plan(MergeSettings(source: .scan), moved: moved)
        _ = try second.carryOut(MergeRun(epoch: "second", deadline: Deadline(after: .seconds(60))))

        #expect(moved.map(\.new.primaryKey) == [3])
        #expect(second.plan.conflicts.isEmpty)
        #expect(
            try shared.writer.destinations(of: StoreMergeTests.habit(3), "category") == [StoreMergeTests.category]
        )
    }

    @Test("A merge keeps the store's identifier and the application's metadata")
    func identity() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try MetadataWriter.update(["PFCloudKitMetadata": .string("zone")], in: shared.connection)
        try old.insert("Habit", ["code": .text("late")])
        let before = try #require(try StoreMetadata(reading: shared.connection))
        try triple.merge(epoch: "e")
        let after = try #require(try StoreMetadata(reading: shared.connection))
        #expect(after.uuid == before.uuid)
        var values = after.values
        #expect(values.removeValue(forKey: StoreMerger.epochKey) == .string("e"))
        #expect(values == before.values)
    }

    @Test("Recording spans the first write to the commit, and its failure rolls the merge back")
    func recording() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.insert("Habit", ["code": .text("late")])
        let before = try StoreDigest(of: shared.connection, externalData: nil)
        for failure in [StoreError(.noSpace, path: "", "no room for the record"), nil] {
            let recorder = Recorder(shared.connection, failure)
            let run = MergeRun(
                epoch: "1",
                deadline: Deadline(after: .seconds(60)),
                record: { _ in
                    try recorder.begin()
                    return recorder
                }
            )
            let merge = try triple.plan()
            if failure != nil {
                #expect(throws: StoreError.self) { _ = try merge.carryOut(run) }
                #expect(try StoreDigest(of: shared.connection, externalData: nil) == before)
            } else {
                #expect(try merge.carryOut(run).outcome == .merged)
            }
            #expect(recorder.counts == [3, 4] && recorder.epoch == "1")
        }
    }

    /// Counts the habits at the beginning and at the end.
    private final class Recorder: MergeRecording {
        private let connection: StoreConnection
        private let failure: StoreError?
        private(set) var counts: [Int64] = []
        private(set) var epoch: String?

        init(_ connection: StoreConnection, _ failure: StoreError?) {
            self.connection = connection
            self.failure = failure
        }

        func begin() throws { counts.append(try connection.value("SELECT count(*) FROM ZHABIT")?.integer ?? 0) }

        func finish() throws {
            try begin()
            epoch = try StoreMerger.epoch(of: connection)
            if let failure { throw failure }
        }
    }
}
