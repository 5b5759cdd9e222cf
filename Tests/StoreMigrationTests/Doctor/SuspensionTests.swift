import Foundation
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Locks of suspended processes")
struct SuspensionTests {
    /// What a program does before it is suspended.
    struct Conduct: Sendable, CustomTestStringConvertible {
        let mode: String
        let lines: [String]
        /// The purposes of the locks that iOS would end it for; empty for a well-behaved program.
        let offences: Set<GroupLock.Purpose>

        init(_ mode: String, _ lines: String..., offends offences: GroupLock.Purpose...) {
            (self.mode, self.lines, self.offences) = (mode, lines, Set(offences))
        }

        var testDescription: String { "\(mode): " + lines.joined(separator: "; ") }
    }

    static let offenders = [
        Conduct("wal", "BEGIN IMMEDIATE", offends: .writeTransaction),
        Conduct("wal", "BEGIN EXCLUSIVE", offends: .writeTransaction),
        Conduct("wal", "BEGIN", "INSERT INTO t VALUES (2)", offends: .writeTransaction),
        Conduct("wal", "PRAGMA mmap_size = 1000000", "BEGIN", "DELETE FROM t", offends: .writeTransaction),
        Conduct("wal", "PRAGMA locking_mode = EXCLUSIVE", "INSERT INTO t VALUES (2)", offends: .writeTransaction),
        Conduct("wal", ".backup FOLDER/copy.sqlite", offends: .writeTransaction),
        Conduct("delete", "BEGIN", "SELECT * FROM t", offends: .readTransaction),
        Conduct("delete", ".step SELECT * FROM t", offends: .readTransaction),
        Conduct("delete", "PRAGMA mmap_size = 1000000", ".step SELECT * FROM t", offends: .readTransaction),
        Conduct("delete", "BEGIN IMMEDIATE", offends: .writeTransaction, .readTransaction),
        Conduct("delete", "BEGIN EXCLUSIVE", offends: .writeTransaction),
        Conduct("delete", "PRAGMA locking_mode = EXCLUSIVE", "SELECT * FROM t", offends: .readTransaction),
        Conduct("truncate", "BEGIN", "DELETE FROM t", offends: .writeTransaction, .readTransaction),
        Conduct("persist", ".step SELECT * FROM t", offends: .readTransaction),
        Conduct("wal", ".flock FOLDER/lock", offends: .otherFile),
        Conduct("wal", ".shared FOLDER/lock", offends: .otherFile),
        Conduct("delete", ".record FOLDER/settings.plist", offends: .otherFile),
        Conduct("wal", ".readRecord FOLDER/settings.plist", offends: .otherFile),
        Conduct("wal", ".openFile FOLDER/settings.plist", offends: .otherFile),
        Conduct("wal", ".lease FOLDER/settings.plist", offends: .otherFile),
    ]

    static let wellBehaved = [
        Conduct("wal", "SELECT * FROM t"),
        Conduct("wal", "BEGIN", "SELECT * FROM t"),
        Conduct("wal", ".step SELECT * FROM t"),
        Conduct("wal", "INSERT INTO t VALUES (2)"),
        Conduct("wal", "PRAGMA mmap_size = 1000000", "SELECT * FROM t"),
        Conduct("wal", "PRAGMA wal_checkpoint(TRUNCATE)"),
        Conduct("delete", "SELECT * FROM t"),
        Conduct("delete", "BEGIN"),
        Conduct("delete", "INSERT INTO t VALUES (2)"),
        Conduct("delete", "BEGIN IMMEDIATE", "COMMIT"),
        Conduct("delete", ".backup ELSEWHERE/copy.sqlite"),
        Conduct("wal", ".flock ELSEWHERE/lock"),
    ]

    @Test("A program that offends is found, and named with what it holds", arguments: offenders)
    func offends(_ conduct: Conduct) throws {
        let check = try check(conduct)
        #expect(Set(check.offences.map(\.purpose)) == conduct.offences)
        #expect(check.findings.count == 1)
        #expect(check.findings.first?.message.contains("(store-writer)") == true)
    }

    @Test("A well-behaved program raises no alarm", arguments: wellBehaved)
    func behaves(_ conduct: Conduct) throws {
        let check = try check(conduct)
        #expect(check.offences.isEmpty)
        #expect(check.findings.isEmpty)
    }

    private func check(_ conduct: Conduct) throws -> SuspensionCheck {
        let places = try Places()
        try places.container.makeStore(
            "PRAGMA journal_mode = \(conduct.mode); CREATE TABLE t (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
                + " SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT hex(zeroblob(i % 50)) FROM n"
        )
        // Stopped, a program cannot end: it is killed.
        let program = try StoreWriterProcess(places.newStore.path)
        defer { program.killNow() }
        for line in ["PRAGMA journal_mode = \(conduct.mode)"] + conduct.lines {
            let line = line.replacing("FOLDER", with: places.container.directory.path)
                .replacing("ELSEWHERE", with: places.old.directory.path)
            #expect(try !program.execute(line).hasPrefix("error"), "\(line)")
        }
        program.suspend(true)
        let ofProgram = try SuspensionCheck(of: places.container.directory.path, processes: [program.id])
        let ofAll = try SuspensionCheck(of: places.container.directory.path)
        #expect(ofProgram.locks == ofAll.locks)
        // What is held on the store alone is a part of it.
        let ofStore = try SuspensionCheck(of: places.newStore.path)
        #expect(ofStore.locks.allSatisfy(ofAll.locks.contains))
        for finding in ofProgram.findings + ofStore.findings {
            let path = try #require(finding.path)
            #expect(FileManager.default.fileExists(atPath: path), "\(path)")
        }
        return ofProgram
    }

    @Test("A path without anything, and one below a file, end with nothingFound")
    func nothing() throws {
        let places = try Places()
        try places.container.write("file", [1])
        for path in [places.newStore.path, places.container.path + "/file/store.sqlite"] {
            let error = #expect(throws: MigrationError.self) { try SuspensionCheck(of: path) }
            #expect(error?.outcome == .nothingFound)
            #expect(error?.path == path)
        }
        #expect(try SuspensionCheck(of: places.container.directory.path).locks.isEmpty)
    }

    @Test("The check of a store that this process has open drops none of its locks")
    func ownLocks() throws {
        let places = try Places()
        try places.container.makeStore("PRAGMA journal_mode = delete; CREATE TABLE t (x)")
        let connection = try StoreConnection(places.newStore, access: .liveWriting)
        defer { try? connection.close() }
        try connection.run("BEGIN IMMEDIATE", [])
        let check = try SuspensionCheck(of: places.newStore.path, processes: [getpid()])
        #expect(check.offences.contains { $0.purpose == .writeTransaction })
        #expect(try SuspensionCheck(of: places.newStore.path, processes: [getpid()]).locks == check.locks)
        try connection.run("COMMIT", [])
    }

    // MARK: The runtime

    private static let kinds: [Set<String>] = [
        ["posts"], ["posts", "history"], ["posts", "rollback"], ["posts", "history", "rollback"],
    ]

    @Test("A Core Data program that is suspended during a save, or with a consumer's name, is found")
    func runtimeOffends() throws {
        let places = try Places()
        try places.makeDummies(at: places.newStore, isRollback: true)
        let folder = places.container.directory.path
        let reader = try StoreWriterProcess(places.newStore.path)
        let app = try StoreWriterProcess(
            program: "relay-peer",
            ["container", places.newStore.path, "posts", "rollback"]
        )
        defer { for program in [reader, app] { program.killNow() } }
        _ = try app.execute("merge app")
        app.suspend(true)
        #expect(
            try SuspensionCheck(of: folder, processes: [app.id]).offences.map(\.file).contains { $0.hasSuffix(".lock") }
        )
        app.suspend(false)

        // The save waits for the reader, with its own lock.
        #expect(try reader.execute("BEGIN") == "ok")
        _ = try reader.execute("SELECT count(*) FROM ZTESTDUMMY")
        try app.say("update 1 later")
        let deadline = Deadline(after: .seconds(60))
        var found: Set<String> = []
        while !found.contains(places.name), !deadline.hasPassed {
            app.suspend(true)
            found = try Set(SuspensionCheck(of: folder, processes: [app.id]).offences.map(\.file))
            app.suspend(false)
        }
        #expect(found.contains(places.name))
        #expect(try reader.execute("COMMIT") == "ok")
        #expect(app.nextLine() == "ok")
        _ = app.waitForExit()
    }

    @Test("A container that prepares for suspension holds no lock, at random moments of its work", arguments: kinds)
    func runtimeBehaves(_ roles: Set<String>) throws {
        let places = try Places()
        try places.makeDummies(
            at: places.newStore,
            tracksHistory: roles.contains("history"),
            isRollback: roles.contains("rollback")
        )
        let folder = places.container.directory.path
        let app = try StoreWriterProcess(program: "relay-peer", ["container", places.newStore.path] + roles.sorted())
        let widget = try StoreWriterProcess(
            program: "relay-peer",
            ["container", places.newStore.path] + roles.sorted()
        )
        defer { for program in [app, widget] { program.killNow() } }
        #expect(try app.execute("follow app") == "ok")
        #expect(try app.execute("work") == "ok")
        for round in 1...(Tier.current == .verify ? 250 : 25) {
            // Its saves make the app merge, too.
            let answer = try widget.execute("insert \(round + 1) widget")
            #expect(answer == "ok", "round \(round)")
            #expect(try app.execute("suspend") == "ok")
            app.suspend(true)
            let check = try SuspensionCheck(of: folder, processes: [app.id])
            #expect(check.locks.isEmpty, "round \(round): \(check.locks.map(\.sentence))")
            app.suspend(false)
            #expect(try app.execute("resume") == "ok")
        }
        let saved = try app.execute("worked")
        #expect(Int(saved).map { $0 > 0 } == true, "\(saved)")
        // It goes on to merge what the other program saves.
        #expect(try !app.execute("fetch").hasPrefix("error"))
        #expect(try app.execute("suspend") == "ok")
        #expect(try widget.execute("insert 999 meanwhile") == "ok")
        #expect(try app.execute("resume") == "ok")
        #expect(try app.execute("shows 999=meanwhile") == "ok")
        #expect(try widget.execute("insert 1000 last") == "ok")
        #expect(try app.execute("shows 1000=last") == "ok")
        #expect(try app.execute("unfollow") == "ok")
    }
}
