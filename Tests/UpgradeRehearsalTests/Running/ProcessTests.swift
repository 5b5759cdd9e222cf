import FoundationEssentials
import Synchronization
import TestSupport
import Testing
import UpgradeRehearsal

@Suite("Processes of a scenario")
struct ProcessTests {
    @Test("Acknowledged rounds are in the store, whether the writer is stopped, killed or refused")
    func rounds() throws {
        func loop(_ name: String) -> String {
            "{start: {process: \(name), opens: old, repeats: \"INSERT INTO t (x) VALUES ('\(name)')\", after: 3}}"
        }
        let report = try MadeUp.report(
            """
            [\(loop("app")), \(loop("other")), \(loop("third")), {kill: other}, {stop: third}, {share: [old, new]}]
            """,
            holds: """
                [{sql: SELECT count(*) FROM t WHERE x = 'app', in: new, is: "{app}"},
                 {sql: SELECT count(*) FROM t WHERE x = 'third', in: new, is: "{third}"},
                 {sql: "SELECT count(*) - {other} IN (0, 1) FROM t WHERE x = 'other'", in: new, is: 1},
                 {sql: "SELECT {app} >= 3 AND {other} >= 3 AND {third} >= 3", in: new, is: 1}]
                """
        )
        #expect(report.result == .held, "\(report)")
    }

    @Test("A held lock blocks other processes until it is released")
    func locks() throws {
        let report = try MadeUp.report(
            """
            [{start: {process: app, opens: old, holds: writeLock}},
             {share: [old, new, --lock-timeout, 250ms], ends: {outcome: busy}},
             {write: {in: old, sql: DELETE FROM t, refused: locked}}, {kill: app},
             {start: {process: reader, opens: old, holds: reader}}, {share: [old, new]},
             {retire: [old, --lock-timeout, 250ms], ends: {outcome: busy}}, {stop: reader}, {retire: [old]}]
            """,
            holds: "[{sql: SELECT count(*) FROM t, in: new, is: 3}]"
        )
        #expect(report.result == .held, "\(report)")
    }

    @Test("Saves of a context insert, update and delete, with relationships and history")
    func saves() throws {
        let report = try MadeUp.report(
            """
            [{save: {in: old, author: widget,
              insert: [{entity: Item, repeat: 2, values: {title: 'New {n}', number: 7, day: 2026-02-01, box: "name == 'Box {n}'"}}],
              update: [{entity: Item, where: "title == 'Item 1'", values: {title: Changed, number: ~}}],
              delete: [{entity: Item, where: "title == 'Item 2'"}]}},
             {save: {in: old, update: [{entity: Box, where: "name == 'Box 2'", values: {items: ["title == 'Changed'"]}}]}},
             {history: [old], ends: {says: widget}},
             {save: {in: old, delete: [{entity: Item, where: "title == 'Missing'"}], refused: no object of Item}},
             {save: {in: old, insert: [{entity: Item}], refused: true}},
             {share: [old, new]},
             {save: {in: old, insert: [{entity: Item, values: {title: Late}}], refused: moved}}]
            """,
            holds: """
                [{count: Item, in: new, is: 4}, {count: Item, in: new, is: 2, where: "number == 7"}, {sound: new},
                 {count: Item, in: new, is: 1, where: "title == 'Changed' AND box.name == 'Box 2'"}]
                """,
            recipe: MadeUp.managed
        )
        #expect(report.result == .held, "\(report)")
    }

    @Test("A write that succeeds against its expectation fails, and so does a refused one")
    func refusals() throws {
        let taken = try MadeUp.report("[{write: {in: old, sql: DELETE FROM t, refused: true}}]")
        #expect(taken.failures.map(\.found) == ["it succeeded"])
        let refused = try MadeUp.report("[{write: {in: old, sql: [INSERT INTO t (x) VALUES (1), DELETE FROM none]}}]")
        #expect(refused.failures.map(\.found) == ["no such table: none"])
        let otherwise = try MadeUp.report("[{write: {in: old, sql: DELETE FROM none, refused: shared}}]")
        #expect(otherwise.failures.map(\.expected) == ["it is refused, saying shared"])
    }

    @Test("A transaction that is refused halfway changes nothing; steps can make stores and change files")
    func inBetween() throws {
        let report = try MadeUp.report(
            """
            [{write: {in: old, sql: [INSERT INTO t (x) VALUES (1), DELETE FROM none], refused: none}},
             {check: [{sql: SELECT count(*) FROM t, in: old, is: 3}]},
             {make: {store: new, recipe: {seed: e, sql: ["CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)"]}}},
             {share: [old, new], ends: {finds: emptyStoreKeptAside}},
             {files: {copy/: {copy: app/}, moved/: {move: copy/}, moved/Store.sqlite: {truncate: 100}, a/b: {link: app/Store.sqlite},
              a/c: {hardLink: app/Store.sqlite}, a/d: {bytes: 10, fill: ab}, a/e: {from: "\(#filePath)"}, a/d2: {copy: a/d}}},
             {files: {a/d: {flip: -1}, a/c: {remove: true}}}]
            """,
            holds: "[{present: [moved/Store.sqlite, a/b, a/d, a/d2, a/e]}, {absent: [copy, a/c]}]"
        )
        #expect(report.result == .held, "\(report)")
    }

    @Test("A step that cannot be executed is a failure with its reason")
    func impossible() throws {
        let report = try MadeUp.report("[{files: {a: {copy: nothing}}}]")
        #expect(report.failures.first?.found.hasPrefix("a cannot be changed") == true)
    }

    @Test("The scratch folder is removed, or kept on request")
    func scratch() throws {
        let scenario = try MadeUp.scenario("[{inspect: [old]}]", holds: "[{present: app}]")
        let kept = try #require(try ScenarioRunner(keepsFiles: true).run([scenario]).first?.keptPlace)
        #expect(FileManager.default.fileExists(atPath: kept + "/app/Store.sqlite"))
        let folder = kept.dropLast("/place".count)
        try FileManager.default.removeItem(atPath: String(folder))
        let gone = try MadeUp.report("[{inspect: [\"{place}/none\"], ends: {status: 10, says: place}}]")
        #expect(gone.result == .held, "\(gone)")
        #expect(gone.keptPlace == nil)
    }

    @Test("Reports come in the order of the scenarios; cancelling leaves out those that had not begun")
    func order() throws {
        let scenarios = try (1...4)
            .map { number in
                try Scenario(
                    yaml:
                        "about: x\nstores: {old: {at: x}}\nsteps: [{inspect: [old], ends: {status: 10}}]\nholds: [{absent: x}]",
                    name: "\(number)"
                )
            }
        #expect(try ScenarioRunner(jobs: 3).run(scenarios).map(\.name) == ["1", "2", "3", "4"])
        let asked = Mutex(0)
        let cancelled = try ScenarioRunner(jobs: 1)
            .run(
                scenarios,
                isCancelled: {
                    asked.withLock { asked in
                        asked += 1
                        return asked > 2
                    }
                }
            )
        #expect(cancelled.map(\.name) == ["1", "2"])
        let lost = try #require(try ScenarioRunner(tool: "/nowhere/store-migrate").run([scenarios[0]]).first)
        #expect(lost.failures.first?.found.contains("/nowhere/store-migrate cannot be started") == true)
    }
}
