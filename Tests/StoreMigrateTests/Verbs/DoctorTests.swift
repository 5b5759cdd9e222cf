import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Verbs doctor and container get")
struct DoctorTests {
    @Test("doctor reports no problems on this machine, and does not change the folder")
    func fine() async throws {
        let scratch = try Scratch()
        try scratch.file("x", [1])
        let before = try scratch.fingerprint()
        let run = try await Tool.run(["doctor", scratch.path, "--json"])
        #expect(run.status == 0, "\(run.output)")
        let lines = try Grammar().check(run)
        let names = lines.first?["checks"]?.array?.compactMap { $0["name"]?.string } ?? []
        for name in ["sqlite", "sqliteModules", "kernel", "fileSystem", "openat2", "renameat2", "lease", "reflink"] {
            #expect(names.contains(name))
        }
        #expect(lines.first?["folder"]?.string == scratch.path)
        #expect(try scratch.fingerprint() == before)
        let text = try await Tool.run(["doctor"], folder: scratch.path)
        #expect(text.status == 0)
        #expect(text.lines.first == "\(scratch.path): no problems")
    }

    @Test("doctor reports on a folder that the user cannot write to")
    func readOnly() async throws {
        let scratch = try Scratch()
        let nobody = try Nobody(scratch)
        let run = try await nobody.run(["doctor", "/"])
        #expect(run.output.contains("writable"), "\(run.output)\(run.errors)")
    }

    @Test("doctor ends with status 10 for a missing folder")
    func absent() async throws {
        let scratch = try Scratch()
        let run = try await Tool.run(["doctor", scratch.path("absent")])
        #expect(run.status == 10, "\(run.errors)")
        #expect(run.errorLines.count == 1)
    }

    @Test("doctor --locks names who holds which lock, and ends with status 3 if iOS would end it for one")
    func locks() async throws {
        let scratch = try Scratch()
        let store = try await scratch.store("s.sqlite", "PRAGMA journal_mode=wal; CREATE TABLE t (x)")
        let idle = try await Tool.run(["doctor", "--locks", scratch.path])
        #expect(idle.status == 0, "\(idle.output)")
        #expect(idle.lines.first == "\(scratch.path): no locks")

        let app = try StoreWriterProcess(store)
        defer { app.killNow() }
        #expect(try app.execute("BEGIN IMMEDIATE") == "ok")
        let before = try scratch.fingerprint()
        let text = try await Tool.run(["doctor", "--locks", store])
        #expect(text.status == 3, "\(text.output)\(text.errors)")
        #expect(text.output.contains("0xdead10cc  \(app.id) (store-writer)"), "\(text.output)")
        #expect(text.errors.contains("a transaction that writes, by a lock on s.sqlite-shm"), "\(text.errors)")
        let run = try await Tool.run(["doctor", "--locks", scratch.path, "--json"])
        let locks = try Grammar().check(run).first?["locks"]?.array ?? []
        #expect(locks.contains { $0["purpose"]?.string == "writeTransaction" })
        // Rounded down to seconds, and the clock of the kernel is that of the boot.
        let start = try #require(locks.first?["processStart"]?.string.flatMap { try? Date($0, strategy: .iso8601) })
        #expect(abs(start.timeIntervalSinceNow) < 600 && start < Date(timeIntervalSinceNow: 2))
        #expect(text.output.contains("process started 20"), "\(text.output)")
        #expect(try scratch.fingerprint() == before)
        #expect(try app.execute("COMMIT") == "ok")
        #expect(try await Tool.run(["doctor", "--locks", scratch.path("absent")]).status == 10)
    }

    @Test("As another user, doctor --locks says what it cannot see, and lists the locks that the kernel shows")
    func locksOfOthers() async throws {
        let scratch = try Scratch()
        let nobody = try Nobody(scratch)
        let store = try await scratch.store("s.sqlite", "PRAGMA journal_mode=wal; CREATE TABLE t (x)")
        let app = try StoreWriterProcess(store)
        defer { app.killNow() }
        #expect(try app.execute("BEGIN IMMEDIATE") == "ok")
        let run = try await nobody.run(["doctor", "--locks", scratch.path])
        #expect(run.status == 3, "\(run.output)\(run.errors)")
        #expect(run.output.contains("0xdead10cc  \(app.id) "), "\(run.output)")
        if getuid() == 0 { #expect(run.output.contains("whose locks this user cannot all see")) }
    }

    @Test("container get finds a container by --groups or by the variable, and never creates a missing one")
    func container() async throws {
        let scratch = try Scratch()
        let folder = try scratch.folder("group.app")
        let flag = try await Tool.run(["container", "get", "group.app", "--groups", scratch.path])
        #expect(flag.output == folder + "\n")
        let variable = try await Tool.runProcess(
            ["container", "get", "group.app", "--json"],
            environment: ["STORE_MIGRATE_GROUPS": scratch.path]
        )
        #expect(try Grammar().check(variable).first?["path"]?.string == folder)
        let absent = try await Tool.run(["container", "get", "group.other", "--groups", scratch.path])
        #expect(absent.status == 10)
        #expect(absent.errors.contains("mkdir -p \(scratch.path("group.other"))"))
        #expect(try scratch.names(scratch.path) == ["group.app"])
    }
}
