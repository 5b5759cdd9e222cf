import ChangeMerging
import StoreAccess
import StoreMigration
import StoreVerification
import Testing

@testable import store_migrate

@Suite("Text output")
struct RenderingTests {
    private static let old = "/home/me/app/Habits.sqlite"
    private static let new = "/srv/group.app/Habits.sqlite"

    private func share(
        isFenced: Bool = true,
        uuid: String? = "U",
        externalFiles: Int = 2,
        skipped: VerificationReport.LevelResult? = nil
    ) -> ShareOutcome {
        let levels = VerificationLevel.allCases.map { level in
            level == skipped?.level
                ? skipped ?? .init(level: level, status: .skipped, seconds: 0)
                : VerificationReport.LevelResult(level: level, status: .passed, seconds: 0)
        }
        return ShareOutcome(
            outcome: .shared,
            transaction: "0123456789abcdef0123456789abcdef",
            old: .init(path: Self.old, uuid: uuid, objects: 1204, digest: nil),
            new: .init(path: Self.new, uuid: uuid, objects: 1204, digest: nil),
            work: .init(bytes: 4_100_000, externalFiles: externalFiles, lockHold: nil, isFenced: isFenced),
            report: VerificationReport(levels: levels, findings: [], digest: nil),
            message: "the store was shared",
            next: .retire(old: Self.old),
            oldStore: isFenced ? .fence : .capture
        )
    }

    private func text(_ outcome: ShareOutcome, _ style: Style = .plain) -> String {
        outcome.text(style, seconds: .milliseconds(412)) { $0.description }
    }

    @Test("The text of a share shows the amounts, the proof and the next commands")
    func golden() {
        #expect(
            text(share()) == """
                Shared Habits.sqlite: 1,204 objects, 2 external files, 4.1 MB in 0.4 s
                  new  /srv/group.app/Habits.sqlite  proved: files, sqlite, coredata, content, merging
                  old  /home/me/app/Habits.sqlite    kept for rollback; now refuses writes with an error that names the new path (4.1 MB)
                When every process uses the new store:  store-migrate retire /home/me/app/Habits.sqlite
                To go back:                             store-migrate unshare /home/me/app/Habits.sqlite /srv/group.app/Habits.sqlite
                """
        )
    }

    @Test("The text for a plain SQLite store counts rows and lists skipped levels")
    func plainSQLite() {
        let skipped = VerificationReport.LevelResult(
            level: .coredata,
            status: .skipped,
            reason: "plain SQLite",
            seconds: 0
        )
        #expect(
            text(share(isFenced: false, uuid: nil, externalFiles: 0, skipped: skipped)) == """
                Shared Habits.sqlite: 1,204 rows, 4.1 MB in 0.4 s
                  new  /srv/group.app/Habits.sqlite  proved: files, sqlite, content, merging; skipped: coredata (plain SQLite)
                  old  /home/me/app/Habits.sqlite    kept for rollback; writes are still accepted, and the next share merges them (4.1 MB)
                When every process uses the new store:  store-migrate retire /home/me/app/Habits.sqlite
                To go back:                             store-migrate unshare /home/me/app/Habits.sqlite /srv/group.app/Habits.sqlite
                """
        )
    }

    @Test("Coloured text equals plain text without its escape sequences")
    func colours() {
        let coloured = text(share(), Style(isColoured: true))
        #expect(coloured.contains("\u{1B}[32mShared\u{1B}[0m"))
        var stripped = coloured
        while let start = stripped.firstIndex(of: "\u{1B}"), let end = stripped[start...].firstIndex(of: "m") {
            stripped.removeSubrange(start...end)
        }
        #expect(stripped == text(share()))
    }

    @Test("A plan numbers its steps and ends with \"Nothing was written.\"")
    func plan() {
        let plan = SharePlan(
            outcome: .shared,
            old: StoreLocation(folder: "/a", name: "H"),
            new: StoreLocation(folder: "/b", name: "H"),
            steps: [PlanStep(.stage, path: "/b/H"), PlanStep(.publish, path: "/b/H"), PlanStep(.fence, path: "/a/H")],
            reason: "the new place is empty"
        )
        #expect(
            plan.text(.plain) { $0.description } == """
                Plan for H: would share (the new place is empty)
                  old  /a/H
                  new  /b/H
                  1. copy the old store into a private folder beside NEW
                  2. move the copy into place at NEW
                  3. refuse writes to OLD
                Nothing was written.
                Next:  store-migrate share /a/H /b/H
                """
        )
    }

    @Test("Status shows both stores, and the next command last")
    func status() {
        let report = StatusReport(
            old: .init(path: "/a/H", presence: .store, uuid: "U", journalMode: .wal, isFenced: true, holders: [7, 8]),
            new: .init(path: "/b/H", presence: .absent, uuid: nil, journalMode: nil, isFenced: false, holders: []),
            run: .interrupted,
            recovery: "would go back",
            transaction: "abc",
            lateWrites: .none,
            findings: [],
            next: .resume(old: "/a/H")
        )
        #expect(
            report.text(.plain) { $0.description } == """
                  old          /a/H  a Core Data store, wal, writes are refused, open in 7, 8
                  new          /b/H  nothing there
                  run          interrupted (abc)
                               would go back
                  late writes  none
                Next:  store-migrate resume /a/H
                """
        )
    }

    @Test("A verification lists levels, warnings and errors; notes appear only when verbose")
    func verification() {
        let report = VerificationReport(
            levels: [
                .init(level: .files, status: .passed, seconds: 0), .init(level: .sqlite, status: .failed, seconds: 0),
                .init(level: .coredata, status: .skipped, reason: "plain SQLite", seconds: 0),
            ],
            findings: [
                Finding(
                    .init(rawValue: "indexMismatch"),
                    .error,
                    level: .sqlite,
                    "an index lacks a row",
                    table: "ZHABIT",
                    key: 4
                ),
                Finding(.init(rawValue: "freePages"), .info, level: .sqlite, "there are free pages"),
            ],
            digest: nil
        )
        #expect(
            report.text(of: "/a/H", .plain, verbose: false) == """
                /a/H: 1 finding
                  files     passed
                  sqlite    failed
                  coredata  skipped: plain SQLite
                  error: an index lacks a row (ZHABIT, key 4) [indexMismatch]
                  1 note more with -v
                """
        )
        #expect(report.text(of: "/a/H", .plain, verbose: true).contains("note: there are free pages [freePages]"))
    }

    @Test("Control characters in paths and messages are escaped")
    func controlCharacters() {
        let evil = "/a/\u{1B}]0;owned\u{7}\n\u{202E}H"
        let places = [
            SharePlan(
                outcome: .shared,
                old: StoreLocation(folder: "/a", name: String(evil.dropFirst(3))),
                new: StoreLocation(folder: "/b", name: evil),
                steps: [PlanStep(.stage, path: evil)],
                findings: [Finding(.init(rawValue: "x"), .error, level: .files, evil, path: evil)],
                reason: evil,
                next: .retire(old: evil)
            )
            .text(.plain) { $0.command(RepeatedOptions(stateFolder: evil)) },
            Failure(outcome: .failed, message: evil, path: evil, advice: evil).line(.plain, next: nil),
        ]
        for text in places {
            let lines = text.split(separator: "\n")
            #expect(lines.allSatisfy { !$0.unicodeScalars.contains(where: Escaped.isUnsafe) }, "\(text)")
        }
        #expect(places[1].split(separator: "\n").count == 1)
    }

    @Test("Text shows paths in the home folder with ~; commands to type, errors and JSON keep the whole path")
    func homeFolder() async throws {
        let scratch = try Scratch()
        try scratch.folder("group")
        let old = try await scratch.store("H.db")
        let new = scratch.path("group/H.db")
        func run(_ words: String...) async throws -> Tool.Run {
            try await Tool.run(words, environment: ["HOME": scratch.path])
        }
        let plan = try await run("plan", old, new)
        #expect(plan.lines[1] == "  old  ~/H.db" && plan.lines[2] == "  new  ~/group/H.db", "\(plan.output)")
        #expect(plan.output.hasSuffix("Next:  store-migrate share \(old) \(new)\n"))
        let shared = try await run("share", old, new)
        #expect(shared.output.contains("  new  ~/group/H.db  proved:"), "\(shared.output)")
        #expect(try await run("status", old, new).lines[0].contains("  ~/H.db  "))
        #expect(try await run("verify", new).lines[0] == "~/group/H.db: sound")
        #expect(try await run("plan", old, new, "--json").output.contains("\"\(old)\""))
        #expect(try await run("verify", scratch.path("none")).errors.contains(": \(scratch.path)/none."))
        let sibling = try await Tool.run(["verify", new], environment: ["HOME": scratch.path("gro")])
        #expect(sibling.lines[0] == "\(new): sound")
    }

    @Test("The amounts of a merge count each joined object only as joined")
    func joined() {
        var summary = MergeSummary()
        (summary.joined, summary.rekeyed) = (3, 5)
        #expect(summary.amounts == "3 joined, 2 given new keys")
        summary.rekeyed = 3
        #expect(summary.amounts == "3 joined")
    }
}
