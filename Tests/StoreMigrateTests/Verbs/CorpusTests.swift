import FoundationEssentials
import StoreAccess
import TestSupport
import Testing

@Suite(
    "Sharing genuine Core Data stores, end to end",
    .verify,
    .genuineStores
)
struct CorpusTests {
    @Test(
        "A genuine store is shared, equals its source as read by sqlite3, and changes only by the fence",
        arguments: Corpus.stores
    )
    func share(_ genuine: String) async throws {
        let store = Corpus.location(of: genuine)
        let scratch = try Scratch()
        // One copy is shared; sqlite3 reads the other for comparison, which may change its log.
        for copy in ["old", "pristine"] { try scratch.copyWritable(store.folder, as: copy) }
        let new = try scratch.folder("new")
        let old = scratch.path("old/" + store.name)
        let before = try scratch.fingerprint(scratch.path("old"))

        for call in [
            ["inspect", old], ["plan", old, new], ["status", old, new], ["verify", old, "--level", "sqlite"],
        ] {
            let run = try await Tool.run(call + ["--json"])
            try Grammar().check(run)
            #expect(run.status == 0 || call[0] == "verify" && run.status == 3, "\(call): \(run.errors)")
        }
        #expect(try scratch.fingerprint(scratch.path("old")) == before, "a verb that only reads changed something")

        let run = try await Tool.run(["share", old, new, "--json"])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let lines = try Grammar().check(run)
        #expect(lines.last?["outcome"]?.string == "shared")

        let pristine = try await SQLiteProgram.content(scratch.path("pristine/" + store.name))
        #expect(!pristine.isEmpty)
        try await scratch.expectContent(new + "/" + store.name, pristine)
        try await scratch.expectContent(old, pristine)
        let externals = try externalFiles(scratch.path("old"))
        #expect(try externalFiles(new) == externals)

        let again = try await Tool.run(["share", old, new, "--json"])
        #expect(again.status == 0, "\(again.errors)")
        #expect(try JSONTree(again.lines.last ?? "")["outcome"]?.string == "alreadyShared")
        let verify = try await Tool.run(["verify", new + "/" + store.name, "--against", old, "--json"])
        let findings = try Grammar().check(verify).filter { $0["level"]?.string == "content" }
        #expect(findings.isEmpty, "\(verify.output)")
    }

    /// The external files of the stores in a folder, by path, with their bytes.
    private func externalFiles(_ folder: String) throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.contains("_EXTERNAL_DATA/") }
        return names.reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: folder + "/" + $1) }
    }
}

extension Scratch {
    /// Compares the content of a store, read by `sqlite3`, with the expected one, table by table.
    fileprivate func expectContent(_ database: String, _ expected: [String: String]) async throws {
        let found = try await SQLiteProgram.content(database)
        #expect(found.keys.sorted() == expected.keys.sorted())
        for (table, rows) in expected { #expect(found[table] == rows, "table \(table)") }
    }
}
