import ChangeMerging
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreVerification
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Merging late writes")
struct LateWriteTests {
    @Test(
        "A share merges the changes of both stores, and a second share does nothing",
        arguments: [false, true],
        ["wal", "rollback"]
    )
    func mergeLateWrites(tracksHistory: Bool, journalMode: String) throws {
        let world = try MergeWorld(tracksHistory: tracksHistory, journalMode: journalMode)
        let places = world.places
        #expect(try places.share(MergeWorld.capture).outcome == .shared)
        try world.rename(1, to: "Walk", in: places.oldStore)
        try world.add(3, "late", to: places.oldStore)
        try world.rename(2, to: "Write", in: places.newStore)
        try world.add(4, "new", to: places.newStore)
        let old = try places.digest(of: places.oldStore)
        #expect(try places.migrator(MergeWorld.capture).planAndWait().outcome == .merged)

        let outcome = try places.share(MergeWorld.capture)

        #expect(outcome.outcome == .merged)
        #expect(outcome.merge?.summary.inserted == 2)
        #expect(outcome.merge?.summary.updated == 1)
        #expect(outcome.merge?.summary.conflicts.isEmpty == true)
        #expect(outcome.report?.passed == true)
        #expect(
            try world.content(of: places.newStore) == ["1 Walk -: 1 2", "2 Write -:", "3 late : 3", "4 new : 4"]
        )
        #expect(try places.digest(of: places.oldStore) == old)
        try world.expectSound(places.newStore)
        let new = try places.container.bytes(places.name)
        #expect(try places.share(MergeWorld.capture).outcome == .alreadyShared)
        #expect(try places.container.bytes(places.name) == new)
        // The base of the next merge, and that of this one, which an undo needs.
        #expect(try bases(of: places).count == 2)
        try places.expectTidy(extra: [places.newStore.writeAheadLogName, places.newStore.sharedMemoryName])
    }

    @Test("Each merge starts from the base of the last one")
    func mergeTwice() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.add(3, "first", to: places.oldStore)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        try world.delete(3, in: places.newStore)
        try world.add(4, "second", to: places.oldStore)

        #expect(try places.share(MergeWorld.capture).outcome == .merged)

        // The second merge must not bring back what the new store deleted since the first.
        #expect(try world.content(of: places.newStore) == ["1 Run -: 1 2", "2 Read -:", "4 second : 4"])
        try world.expectSound(places.newStore)
    }

    @Test("An object with another key after a merge is matched when the old store changes it again")
    func rekeyedTwice() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.add(3, "old", to: places.oldStore)
        try world.add(4, "new", to: places.newStore)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        // Both use key 3 for different objects, and the old store is about to assign the key that its object has there.
        try world.rename(3, to: "old again", in: places.oldStore)
        try world.add(5, "old too", to: places.oldStore)
        try world.rename(4, to: "new again", in: places.newStore)
        try world.edit(places.oldStore) { context in
            let day = try context.insertNewObject(forEntityName: "Day")
            try day.setValue(33, forKey: "number")
            try day.setObject(MergeWorld.habit(3, context), forKey: "habit")
        }

        let outcome = try places.share(MergeWorld.capture)

        #expect(outcome.outcome == .merged)
        #expect(outcome.merge?.summary.conflicts.isEmpty == true)
        #expect(
            try world.content(of: places.newStore) == [
                "1 Run -: 1 2", "2 Read -:", "3 old again : 3 33", "4 new again : 4", "5 old too : 5",
            ]
        )
        try world.expectSound(places.newStore)
        try world.delete(3, in: places.oldStore)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        #expect(
            try world.content(of: places.newStore) == [
                "1 Run -: 1 2", "2 Read -:", "4 new again : 4", "5 old too : 5",
            ]
        )
        #expect(try places.share(MergeWorld.capture).outcome == .alreadyShared)
        #expect(try bases(of: places).count == 2)
    }

    @Test("A conflicting property gets the value that the policy selects, and the other row is parked")
    func conflict() throws {
        for (policy, name) in [
            (StoreMergePolicy.mergeByPropertyStoreTrump, "new"), (.mergeByPropertyObjectTrump, "late"),
        ] {
            let world = try MergeWorld()
            let places = world.places
            try places.share(MergeWorld.capture)
            try world.rename(1, to: "late", in: places.oldStore)
            try world.rename(1, to: "new", in: places.newStore)

            let outcome = try places.share {
                MergeWorld.capture(&$0)
                $0.merging = MergeSettings(policy: policy)
            }

            #expect(outcome.outcome == .merged)
            let conflict = try #require(outcome.merge?.summary.conflicts.first)
            #expect(outcome.merge?.summary.conflicts.count == 1)
            #expect((conflict.entity, conflict.property) == ("Habit", "name"))
            #expect(conflict.base == .value(.text("Run")))
            #expect((conflict.old, conflict.shared) == (.value(.text("late")), .value(.text("new"))))
            #expect(try world.content(of: places.newStore).first == "1 \(name) -: 1 2")
            let parked = try #require(outcome.merge?.parkedRows)
            let text = try String(
                decoding: places.journalFolder()
                    .contents(of: String(parked.split(separator: "/").last ?? ""), limit: 1 << 20),
                as: UTF8.self
            )
            #expect(text.contains(name == "new" ? "late" : "new"))
        }
    }

    @Test("A later share that names a fence merges all late writes and refuses further ones")
    func mergeAndFence() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.add(3, "late", to: places.oldStore)

        let outcome = try places.share {
            $0.level = .coredata
            $0.oldStore = .fence
        }

        #expect(outcome.outcome == .merged)
        #expect(outcome.next == .retire(old: places.oldStore.path))
        #expect(try places.isFenced(places.oldStore))
        #expect(throws: (any Error).self) { try world.add(4, "refused", to: places.oldStore) }
        #expect(try places.share().outcome == .alreadyShared)
        #expect(try StoreRetirement(of: places.oldStore.url).retireAndWait().outcome == .retired)
        #expect(try world.content(of: places.newStore) == ["1 Run -: 1 2", "2 Read -:", "3 late : 3"])
    }

    @Test("A store that cannot be locked is not merged without the required fence")
    func unlockableOldStore() throws {
        let world = try MergeWorld(journalMode: "rollback")
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.add(3, "late", to: places.oldStore)
        // SQLite opens a store with an unknown write version read-only, regardless of the file's mode.
        let file = try places.old.directory.openFile(places.name, for: .writing)
        try withUnsafeBytes(of: UInt8(3)) { try file.write($0, at: 18) }
        try file.close()
        let before = try places.container.bytes(places.name)

        let error = #expect(throws: MigrationError.self) {
            try places.share {
                $0.level = .coredata
                $0.oldStore = .fence
            }
        }

        #expect(error?.outcome == .notWritable)
        #expect(try places.container.bytes(places.name) == before)
        // Without a fence, the store at rest can be merged.
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        #expect(try world.content(of: places.newStore) == ["1 Run -: 1 2", "2 Read -:", "3 late : 3"])
    }

    @Test(
        "Merged late writes are recognised by content when the old store's files were touched",
        arguments: ["wal", "rollback"]
    )
    func touched(journalMode: String) throws {
        let world = try MergeWorld(journalMode: journalMode)
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.add(3, "late", to: places.oldStore)
        #expect(try places.share(MergeWorld.capture).outcome == .merged)
        let writer = try places.old.open()
        try writer.execute("BEGIN IMMEDIATE; UPDATE ZDAY SET ZNUMBER = ZNUMBER; COMMIT")
        try writer.close()

        #expect(try places.share(MergeWorld.capture).outcome == .alreadyShared)
        #expect(try places.migrator().statusAndWait().lateWrites == StatusReport.LateWrites.none)
    }

    @Test("A row that a CHECK of the new store rejects is reported as parked, with the new store's own figures")
    func rejectedRow() throws {
        let places = try Places()
        try places.old.makeStore(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, x CHECK (x > 0)); INSERT INTO t VALUES (1, 1)"
        )
        try places.share { $0.oldStore = .capture }
        let writer = try places.old.open()
        try writer.execute("PRAGMA ignore_check_constraints=1; INSERT INTO t VALUES (4, -7)")
        try writer.close()

        let outcome = try places.share { $0.oldStore = .capture }

        #expect(outcome.merge?.summary.inserted == 0 && outcome.merge?.summary.parked == 1)
        #expect(outcome.merge?.summary.notes.map(\.kind) == [.constraintRejected])
        #expect(outcome.merge?.parkedRows != nil)
        #expect(outcome.old?.objects == 2 && outcome.new?.objects == 1)
        #expect(try outcome.old?.digest == places.digest(of: places.oldStore))
        #expect(try outcome.new?.digest == places.digest(of: places.newStore))
    }

    @Test("A table redefined in one store is refused with both paths of the change; equal tables then settle it")
    func redefinedTable() throws {
        for isNew in [true, false] {
            let places = try Places()
            try places.old.makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 'a')")
            try places.share { $0.oldStore = .capture }
            func run(_ sql: String, _ folder: ScratchFolder) throws {
                let connection = try folder.open()
                try connection.execute(sql)
                try connection.close()
            }
            let (changed, other) = isNew ? (places.container, places.old) : (places.old, places.container)
            try run("ALTER TABLE t ADD COLUMN y DEFAULT 5", changed)
            try run("INSERT INTO t (x) VALUES ('late')", places.old)

            let error = #expect(throws: MigrationError.self) { try places.share { $0.oldStore = .capture } }

            #expect(error?.outcome == (isNew ? .needsDecision : .incompatible))
            #expect(error?.message.contains("the definition of the table t") == true)
            #expect(error?.advice.contains("Define the table t in \(other.path)/") == true)
            #expect(error?.next == .diff(places.oldStore.path, places.newStore.path))
            try run("ALTER TABLE t ADD COLUMN y DEFAULT 5", other)
            try run("INSERT INTO t (x) VALUES ('late')", places.container)
            #expect(try places.share { $0.oldStore = .capture }.outcome.exitStatus == 0)
            #expect(try places.rows(of: places.newStore) == ["a", "late"])
        }
    }

    @Test("A changed base is refused before anything is written")
    func tamperedBase() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        try world.add(3, "late", to: places.oldStore)
        let base = try #require(try bases(of: places).first)
        let folder = try places.journalFolder()
        let file = try folder.openFile(base, for: .writing)
        try withUnsafeBytes(of: UInt8(0xff)) { try file.write($0, at: 100) }
        try file.close()
        let before = try places.container.bytes(places.name)

        let error = #expect(throws: MigrationError.self) { try places.share(MergeWorld.capture) }

        #expect(error?.outcome == .verificationFailed)
        #expect(error?.message.contains("base") == true)
        #expect(try places.container.bytes(places.name) == before)
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.migrator().statusAndWait().lateWrites == .found)
    }

    private func bases(of places: Places) throws -> [String] {
        try places.journalFolder().entries().filter(CapturedBase.isOne)
    }
}
