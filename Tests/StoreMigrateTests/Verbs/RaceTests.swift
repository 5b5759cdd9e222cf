import Foundation
import TestSupport
import Testing

@Suite("Concurrent shares", .verify, .serialized)
struct RaceTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.folder("group")
    }

    private var new: String { scratch.path("group/Habits.sqlite") }

    private func makeOld(_ name: String, mode: String, value: Int) async throws -> String {
        try scratch.folder(name)
        return try await scratch.store(
            "\(name)/Habits.sqlite",
            """
            PRAGMA journal_mode=\(mode); CREATE TABLE habit(id INTEGER PRIMARY KEY, name TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
            INSERT INTO habit SELECT i, 'habit ' || i || ' of \(value)' FROM n;
            """
        )
    }

    /// Runs `share` from each of the stores at once.
    private func race(_ stores: [String]) async throws -> [(old: String, run: Tool.Run)] {
        let new = new
        return try await withThrowingTaskGroup { group in
            for old in stores { group.addTask { (old, try await Tool.runProcess(["share", old, new, "--json"])) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The kinds of records in the journal beside a store, in their order.
    private func records(_ old: String) throws -> [String] {
        let folder = URL(filePath: old).deletingLastPathComponent()
        let journal = folder.appending(path: ".store-migrate/Habits.sqlite/journal")
        guard FileManager.default.fileExists(atPath: journal.path) else { return [] }
        return try String(contentsOf: journal, encoding: .utf8).split(separator: "\n")
            .compactMap { line in
                let json = Data(line.dropFirst(18).utf8)
                return (try JSONSerialization.jsonObject(with: json) as? [String: Any])?.keys.first
            }
    }

    private func outcome(_ run: Tool.Run) throws -> String? {
        try Grammar().check(run).last?["outcome"]?.string
    }

    @Test(
        "Concurrent shares of one store: exactly one publishes, and none fails",
        arguments: [2, 4, 8],
        ["wal", "delete"]
    )
    func oneStore(runs: Int, mode: String) async throws {
        let old = try await makeOld("old", mode: mode, value: 1)
        let before = try await SQLiteProgram.content(old)

        let results = try await race(Array(repeating: old, count: runs))

        let outcomes = try results.map { try outcome($0.run) }
        #expect(results.allSatisfy { [0, 11].contains($0.run.status) }, "\(results.map { $0.run.output })")
        #expect(outcomes.count { $0 == "shared" } == 1, "\(outcomes)")
        #expect(Set(outcomes).isSubset(of: ["shared", "alreadyShared", "busy"]), "\(outcomes)")
        let records = try records(old)
        for kind in ["begin", "published", "done"] { #expect(records.count { $0 == kind } == 1, "\(records)") }
        #expect(try await SQLiteProgram.content(new) == before)
        #expect(try await SQLiteProgram.content(old) == before)
        #expect(try scratch.names(scratch.path("group")) == [".Habits.sqlite.store-migrate.json", "Habits.sqlite"])
    }

    @Test(
        "Concurrent shares of several stores to one path: exactly one succeeds, and the other stores are unchanged",
        arguments: ["nothing", "an empty store", "a zero-byte file"],
        ["wal", "delete"]
    )
    func oneDestination(place: String, mode: String) async throws {
        let empty = "PRAGMA journal_mode=\(mode); CREATE TABLE habit(id INTEGER PRIMARY KEY, name TEXT);"
        if place == "an empty store" { try await scratch.store("group/Habits.sqlite", empty) }
        if place == "a zero-byte file" { try scratch.file("group/Habits.sqlite", []) }
        var stores: [String] = []
        var contents: [String: [String: String]] = [:]
        for number in 1...4 {
            let old = try await makeOld("old\(number)", mode: mode, value: number)
            stores.append(old)
            contents[old] = try await SQLiteProgram.content(old)
        }

        let results = try await race(stores)

        let winners = results.filter { $0.run.status == 0 }.map(\.old)
        try #require(winners.count == 1, "\(results.map { $0.run.output })")
        #expect(try await SQLiteProgram.content(new) == contents[winners[0]])
        for (old, run) in results {
            #expect(try await SQLiteProgram.content(old) == contents[old])
            let triggers = try await SQLiteProgram.run(
                old,
                "SELECT count(*) > 0 FROM sqlite_schema WHERE type='trigger'"
            )
            #expect(triggers == (old == winners[0] ? "1\n" : "0\n"))
            guard old != winners[0] else { continue }
            #expect([4, 11, 13].contains(run.status), "\(run.output)")
            #expect(try records(old).isEmpty)
        }
        let aside = try scratch.names(scratch.path("group")).filter { $0.hasPrefix(".store-migrate") }
        #expect(aside.count == (place == "nothing" ? 0 : 1), "\(aside)")
    }
}
