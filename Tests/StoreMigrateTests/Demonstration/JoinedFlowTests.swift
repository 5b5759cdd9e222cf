import Foundation
import ManagedObjects
import MergeProbing
import StoreAccess
import StoreMigration
import StoreVerification
import TestSupport
import Testing

@testable import store_migrate

/// What joins the four flows: "after a store has moved, all four must still hold across the two places".
///
/// Each comment is the part of that sentence that the expectations after it stand for.
@Suite("What joins the flows: they hold across the old and the new path", .verify)
struct JoinedFlowTests {
    private let stage: HabitStage

    init() async throws { stage = try await HabitStage(isUpgrade: true) }

    @Test("Saves to the old store, which its app has not merged, reach the app's first start after the share")
    func pendingEntries() async throws {
        // "pending relay entries written before the move are merged after it": the former app has read all until here.
        let former = try await stage.open(stage.old)
        try await former.mergeRemoteChanges(as: "app")
        await former.endMerging(as: "app")
        former.close()
        try await stage.edit(stage.old, as: "widget") {
            try HabitStage.addDays(1, to: HabitStage.habit(in: $0), in: $0)
        }
        try await stage.edit(stage.old, as: "widget") {
            try HabitStage.habit(in: $0).setValue("blue", forKey: "colour")
        }
        let started = try await stage.app()
        #expect(
            started.output.hasPrefix("Saves while the app did not run: 2\nMorning run: day 51"),
            "\(started.output)"
        )
        #expect(try await stage.app().output.hasPrefix("Morning run: day 51"))
    }

    @Test("Late writes of each kind to a captured old store are noticed, and merged property by property")
    func lateWrites() async throws {
        let first = try await stage.share("--old", "capture")
        #expect(first.status == 0, "\(first.errors)")
        #expect(try await stage.app().output.hasPrefix("Morning run: day 51"))
        let days = "SELECT count(*) FROM ZHABITDAY"
        let before = try #require(Int(try await stage.stored(days)))
        // "a writer that still used the old place after the copy": an insert, two updates, one of them of an object that the
        // widget changes at the new path, and a delete.
        try await stage.edit(stage.old, as: "former app") { context in
            let habit = try HabitStage.habit(in: context)
            try habit.setValue("late colour", forKey: "colour")
            try HabitStage.addDays(1, to: habit, in: context)
            let predicate = try FetchPredicate(format: "name == %@", "Read ten pages")
            let other = try #require(try context.fetch(FetchRequest(entityName: "Habit", predicate: predicate)).first)
            try context.delete(other)
        }
        try await stage.edit(stage.new, as: "widget") {
            try HabitStage.habit(in: $0).setValue("Evening run", forKey: "name")
        }
        // "is noticed".
        let status = try await Tool.runProcess(["status", stage.old, stage.new, "--check"])
        #expect(status.status == 3 && status.output.contains(/late writes +found/), "\(status.output)")
        // "and its changes are merged (three-way, property by property)": the next start of the app shares again.
        let merged = try await stage.app()
        #expect(merged.status == 0 && merged.output.contains("Evening run: "), "\(merged.output)\(merged.errors)")
        let habit = "SELECT ZNAME, ZCOLOUR FROM ZHABIT WHERE ZNAME = 'Evening run'"
        #expect(try await stage.stored(habit) == "Evening run|late colour")
        #expect(try await stage.stored("SELECT count(*) FROM ZHABIT WHERE ZNAME = 'Read ten pages'") == "0")
        let deleted = "SELECT count(*) FROM ZHABITDAY d LEFT JOIN ZHABIT h ON h.Z_PK = d.ZHABIT WHERE h.Z_PK IS NULL"
        #expect(try await stage.stored(deleted) == "0")
        let late = "SELECT count(*) FROM ZHABITDAY WHERE ZDATE > 1000000000"
        #expect(try await stage.stored(late) == "1")
        #expect(try #require(Int(try await stage.stored(days))) < before)
        let sound = try await Tool.runProcess(["verify", stage.new])
        #expect(sound.status == 0, "\(sound.output)")
        // The widget shows what the former app wrote.
        #expect(try await stage.widget().output.contains("Evening run: "))
    }

    @Test("A history token of the old store is valid at the new one: only later transactions follow it")
    func historyPositions() async throws {
        let former = try await stage.open(stage.old)
        let token = try former.persistentStoreCoordinator.currentPersistentHistoryToken().archive()
        former.close()
        #expect(try await stage.app().status == 0)
        let app = try await stage.open(stage.new)
        let coordinator = app.persistentStoreCoordinator
        // "history positions stay valid".
        let position = try PersistentHistoryToken(archive: token)
        #expect(try coordinator.fetchHistory(after: position).isEmpty)
        #expect(try await stage.widget(HabitStage.habit, ["--done"]).status == 0)
        #expect(try coordinator.fetchHistory(after: position).map(\.author) == ["widget"])
        app.close()
    }

    @Test("The verification of a share tries each kind of change from the extension, and late in the old store")
    func verification() async throws {
        let run = try await stage.share("--json")
        #expect(run.status == 0, "\(run.errors)")
        let verification = try Grammar().check(run).first { $0["type"]?.string == "verification" }
        let levels = try #require(verification?["levels"]?.array)
        #expect(levels.last?["level"]?.string == "merging" && levels.last?["status"]?.string == "passed")
        // A share bounds the time of its probe; without a bound the probe of the same stores and descriptions is complete.
        var limits = MergeProbe.Limits()
        limits.duration = .seconds(600)
        let file = URL(filePath: stage.scratch.path("group.habits/descriptions.json"))
        let probe = MergeProbe(
            descriptions: try StoreMigrator.descriptions(at: file),
            writer: ProcessProbeWriter(program: try Tool.path, arguments: [ProbeWriterCommand.word]),
            limits: limits
        )
        let (old, new) = (StoreLocation(path: stage.old), StoreLocation(path: stage.new))
        let tried = try #require(StoreVerifier().verify(new, level: .merging, against: old, proof: probe.proof).probe)
        #expect(tried.findings.isEmpty, "\(tried.findings)")
        // "the verification step proves on scratch copies that an insert, an update, an update-to-match and a delete made by
        // the extension's description arrive in the app's context, and that a late write of each kind made in the old place
        // arrives there too".
        #expect(
            tried.directions.map { "\($0.from) to \($0.to)" } == [
                "extension(widget) to app", "app to extension(widget)", "old store to new store",
            ]
        )
        for direction in tried.directions {
            #expect(direction.operations == [.insert, .update, .match, .delete], "\(direction)")
            // "with two real processes where the flow has two".
            #expect(direction.writer == "another process")
        }
        #expect(try await Tool.runProcess(["diff", stage.old, stage.new]).status == 0)
    }
}
