import FoundationEssentials
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
