import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreFixtures
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

@Suite("The records of a run that was killed and recovered")
struct KilledRunTests {
    /// A share in one of its forms, with the points that it passes.
    struct Form: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Options of `share`.
        var options: [String] = []
        /// The store at the new path; nil for a vacant one.
        var occupant: Occupant?
        /// True when the store is shared before, and written to since.
        var isLate = false
        let moments: [TriggerPoint]

        enum Occupant: Sendable {
            /// A store without objects.
            case empty
            /// A store with one object of its own.
            case other
        }

        private static let copying: [TriggerPoint] = [.copying, .proving, .publishing, .placed, .published]

        static let all = [
            Form(testDescription: "fenced", moments: copying),
            Form(testDescription: "captured", options: ["--old", "capture"], moments: copying),
            Form(testDescription: "with history", options: ["--strategy", "HistoryTracking"], moments: copying),
            Form(
                testDescription: "over an empty store",
                occupant: .empty,
                moments: [.publishing, .placed, .published]
            ),
            Form(
                testDescription: "the old store kept",
                options: ["--on-both", "keep-old"],
                occupant: .other,
                moments: [.placed, .published]
            ),
            Form(
                testDescription: "the new store kept",
                options: ["--on-both", "keep-new"],
                occupant: .other,
                moments: [.protecting]
            ),
            Form(
                testDescription: "late writes merged",
                options: ["--old", "capture"],
                isLate: true,
                moments: [.merging, .merged]
            ),
        ]
    }

    @Test("equal those of an undisturbed run", arguments: Form.all)
    func recovered(_ form: Form) async throws {
        let undisturbed = try Shared(form)
        try await undisturbed.finish("share")
        let expected = try undisturbed.records()
        for moment in form.moments {
            for verb in ["share", "resume"] {
                let killed = try Shared(form)
                try Tool.kill(killed.share, in: killed.old.path, at: moment)
                try await killed.finish(verb)
                // A run that was rolled back is made again.
                try await killed.finish("share")
                #expect(try killed.records() == expected, "killed at \(moment), then \(verb)")
            }
        }
    }

    /// The test creates the copy that a run leaves when it is killed after its last change.
    @Test(
        "The private copy of a killed run is removed by a run that finds its work done",
        arguments: ["share", "merge"]
    )
    func privateCopy(_ verb: String) async throws {
        let scratch = try Scratch()
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        for folder in ["old", "new", "base", "temporary"] {
            try scratch.folder(folder)
            if folder == "temporary" || folder == "new" && verb == "share" { continue }
            let built = try await Tool.run(["fixture", "build", recipe, scratch.path("\(folder)/Habits.sqlite")])
            try #require(built.status == 0, "\(built.errors)")
        }
        let stores = ["old", "new"].map { scratch.path("\($0)/Habits.sqlite") }
        let call =
            verb == "share"
            ? ["share"] + stores
            : ["merge"] + stores + ["--base", scratch.path("base/Habits.sqlite"), "--scan"]
        let environment = ["TMPDIR": scratch.path("temporary")]
        let first = try await Tool.runProcess(call, environment: environment)
        try #require(first.status == 0, "\(first.errors)")
        let left = try Directory.open(path: scratch.path("temporary"))
            .createDirectory("store-migrate-view-" + String(repeating: "0a", count: 10), mode: 0o700)
        try left.replace("Habits.sqlite", with: [1], mode: 0o600)
        let second = try await Tool.runProcess(call, environment: environment)
        #expect(second.status == 0, "\(second.errors)")
        #expect(try Directory.open(path: scratch.path("temporary")).entries().isEmpty)
    }

    @Test("The receipt of a recovered share names the run of another store that was shared to its copy meanwhile")
    func sharedMeanwhile() async throws {
        let form = Form(testDescription: "fenced", moments: [])
        let (killed, other) = (try Shared(form), try Shared(form))
        try Tool.kill(killed.share, in: killed.old.path, at: .published)
        let share = try await Tool.run(["share", other.oldPath, killed.newPath, "--old", "capture"])
        #expect(share.status == 0, "\(share.errors)")
        try await killed.finish("share")
        #expect(try killed.receivedRuns == 2)
    }

    @Test("A share over the new store of an unfinished share is refused, and so is its plan")
    func replacedMeanwhile() async throws {
        let form = Form(testDescription: "fenced", moments: [])
        let (killed, other) = (try Shared(form), try Shared(form))
        try Tool.kill(killed.share, in: killed.old.path, at: .published)
        try other.remove(1)
        for rehearsal in [["-n"], []] {
            let share = try await Tool.run(
                ["share", other.oldPath, killed.newPath, "--on-both", "keep-old"] + rehearsal
            )
            #expect(share.status == 6, "\(share.output)")
            #expect(share.errors.contains("store-migrate resume"), "\(share.errors)")
        }
    }

    @Test("A restore over the new store of a share is refused until the share has ended, and voids its record then")
    func restored() async throws {
        let killed = try Shared(Form(testDescription: "captured", options: ["--old", "capture"], moments: []))
        try Tool.kill(killed.share, in: killed.old.path, at: .published)
        let restore = try await killed.restore()
        #expect(restore.status == 6, "\(restore.output)")
        #expect(restore.errors.contains("store-migrate resume"), "\(restore.errors)")

        // The lock of the journal shows a run at work.
        let lock = try killed.lockJournal()
        let meanwhile = try await killed.restore()
        #expect(meanwhile.status == 11, "\(meanwhile.output)")
        lock.release()

        try await killed.finish("resume")
        let again = try await killed.restore()
        #expect(again.status == 0, "\(again.errors)")
        #expect(try killed.isVoid)
    }
}

/// Both paths of a share.
private struct Shared {
    let old: ScratchFolder
    private let container: ScratchFolder
    private let options: [String]
    private var oldStore: StoreLocation { old.location("Habits.sqlite") }
    private var newStore: StoreLocation { container.location("Habits.sqlite") }
    var share: [String] { ["share", oldStore.path, newStore.path, "--level", "content"] + options }

    init(_ form: KilledRunTests.Form) throws {
        (old, container) = (try ScratchFolder(), try ScratchFolder())
        options = form.options
        try RecipeBuilder.build(recipeFile: Tool.package + "/Fixtures/Stores/clean/recipe.yaml", at: oldStore)
        if let occupant = form.occupant {
            try RecipeBuilder.build(recipeFile: Tool.package + "/Fixtures/Stores/clean/recipe.yaml", at: newStore)
            let store = try container.open(newStore.name)
            switch occupant {
            case .empty: try store.execute("DELETE FROM ZNOTE; DELETE FROM ZFOLDER")
            case .other: try store.execute("UPDATE ZNOTE SET ZTITLE = 'own', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
            }
            try store.close()
        }
        guard form.isLate else { return }
        try StoreMigrator(from: oldStore.url, to: newStore.url, options: captured).shareStoreIfNecessaryAndWait()
        let store = try old.open(oldStore.name)
        try store.execute("UPDATE ZNOTE SET ZTITLE = 'late', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
        try store.close()
    }

    private var captured: ShareOptions {
        var options = ShareOptions()
        options.oldStore = .capture
        options.level = .content
        return options
    }

    /// Locks the journal of the old store.
    func lockJournal() throws -> FileLock {
        let folder = try old.directory.openDirectory(StateFolder.name).openDirectory(oldStore.name)
        return try #require(try FileLock.acquire("lock", in: folder, deadline: Deadline(after: .seconds(60))))
    }

    /// Removes a row of the old store.
    func remove(_ note: Int) throws {
        let store = try old.open(oldStore.name)
        try store.execute("DELETE FROM ZNOTE WHERE Z_PK = \(note)")
        try store.close()
    }

    /// Restores the old store without a row over the new store.
    func restore() async throws -> Tool.Run {
        let other = try ScratchFolder()
        try RecipeBuilder.build(
            recipeFile: Tool.package + "/Fixtures/Stores/clean/recipe.yaml",
            at: other.location(oldStore.name)
        )
        let store = try other.open(oldStore.name)
        try store.execute("DELETE FROM ZNOTE WHERE Z_PK = 1")
        try store.close()
        let archive = other.location("archive.tar.zst").path
        let backup = try await Tool.run(["backup", other.location(oldStore.name).path, "-o", archive])
        #expect(backup.status == 0, "\(backup.errors)")
        return try await Tool.run(["restore", archive, newStore.path, "--overwrite", "always", "--other-store"])
    }

    var oldPath: String { oldStore.path }
    var newPath: String { newStore.path }

    /// The number of runs that the receipt names.
    var receivedRuns: Int {
        get throws { try #require(try Receipt(beside: newStore.name, in: container.directory)).origins.count }
    }

    /// True if the record of the pair is void.
    var isVoid: Bool {
        get throws {
            guard case .voided = try StateFolder(of: oldStore, stateFolder: nil).state() else { return false }
            return true
        }
    }

    func finish(_ verb: String) async throws {
        let run = try await Tool.run(verb == "share" ? share : [verb, oldStore.path])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
    }

    /// What a run leaves, without what differs between two runs: transactions, inodes, tokens and folders.
    struct Records: Equatable {
        let storeUUID: String?
        let descriptions: [String: PersistentStoreDescription]
        let keepsNew: Bool?
        let hasOldDigest: Bool
        let otherRuns: Int
        let completion: [String]
        let hasBase: Bool
        let merges: Int
        let isFenced: Bool
    }

    /// Expects that receipt and journal have the digests of both stores.
    func records() throws -> Records {
        let folder = try old.directory.openDirectory(StateFolder.name).openDirectory(oldStore.name)
        let shared = try #require(RunState(MigrationJournal.records(in: folder)).shared)
        let receipt = try #require(try Receipt(beside: newStore.name, in: container.directory))
        let completion = shared.completion
        #expect(receipt.transaction == shared.run.transaction)
        #expect(receipt.old == oldStore.path)
        #expect(receipt.descriptions["app"]?.url == newStore.url)
        #expect(try receipt.digest == digest(of: newStore))
        #expect(try receipt.oldDigest ?? receipt.digest == digest(of: oldStore))
        #expect(try completion.oldState.digest == digest(of: oldStore))
        return Records(
            storeUUID: receipt.storeUUID,
            descriptions: receipt.descriptions.mapValues { described in
                var described = described
                described.url = URL(filePath: "/")
                return described
            },
            keepsNew: receipt.keepsNew,
            hasOldDigest: receipt.oldDigest != nil,
            otherRuns: receipt.others?.count ?? 0,
            completion: [
                completion.newUUID ?? "", "\(completion.newSchemaCookie ?? 0)", "\(completion.isFenced)",
                "\(completion.keepsNew ?? false)", "\(completion.leavesRows ?? false)", completion.oldState.digest,
            ],
            hasBase: shared.base != nil,
            merges: shared.merges.count,
            isFenced: try StoreReader().withView(of: oldStore) { try StoreFence(reading: $0.connection) } != nil
        )
    }

    private func digest(of store: StoreLocation) throws -> String {
        try StoreReader()
            .withView(of: store) { try StoreDigest(of: $0.connection, externalData: $0.externalData).value }
    }
}
