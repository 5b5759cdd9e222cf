import FoundationEssentials
import Glibc
import SafeFiles
import Testing

@Suite("Root works for the owner of an old store that is gone", .enabled(if: ProcessIdentity.effectiveUser == 0))
struct OwnerTests {
    /// A user whom the user database does not know.
    private static let user: UInt32 = 61_234

    private let scratch: Scratch
    private let owner: Nobody
    private let new: String
    private let state: String

    private var old: String { scratch.path("old") }
    private var store: String { old + "/H.db" }
    private var shared: String { new + "/H.db" }

    init() throws {
        scratch = try Scratch()
        owner = try Nobody(scratch, number: Self.user)
        _ = try owner.folder("old")
        new = try owner.folder("new")
        state = try owner.folder("state")
    }

    private func makeStore() async throws {
        try await owner.shell("sqlite3 \(store) 'CREATE TABLE t(a); INSERT INTO t VALUES(1);'")
    }

    private func chosen(_ isChosen: Bool) -> [String] { isChosen ? ["--state", state] : [] }

    /// Everything below the given folders belongs to the user.
    private func expectOwned(_ folders: [String]) throws {
        for folder in folders {
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
                #expect(attributes[.ownerAccountID] as? Int == Int(Self.user), "\(folder)/\(name)")
            }
        }
    }

    private func expect(_ run: Tool.Run, _ status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(run.status == status, "\(run.output)\(run.errors)", sourceLocation: sourceLocation)
    }

    @Test("Shared, retired and brought back by root, it is its owner's again", arguments: [false, true])
    func backByRoot(isChosen: Bool) async throws {
        try await makeStore()
        let state = chosen(isChosen)
        expect(try await Tool.runProcess(["share", store, new] + state))
        expect(try await Tool.runProcess(["retire", store] + state))
        expect(try await Tool.runProcess(["unshare", store, shared] + state))
        try expectOwned([old, new, self.state])
        try await owner.shell("sqlite3 \(store) 'INSERT INTO t VALUES(2);'")
        expect(try await owner.run(["share", store, new] + state))
        expect(try await owner.run(["retire", store] + state))
        expect(try await owner.run(["unshare", store, shared] + state))
        #expect(try await SQLiteProgram.run(store, "SELECT sum(a) FROM t") == "3\n")
    }

    @Test("The old store's folder may be another's than its journal")
    func folderOfRoot() async throws {
        #expect(chown(old, 0, Self.user) == 0)
        #expect(chmod(old, 0o2775) == 0)
        try await makeStore()
        expect(try await owner.run(["share", store, new]))
        expect(try await owner.run(["retire", store]))
        for words in [["status", store, new], ["plan", store, new], ["share", store, new], ["resume", store]] {
            let owners = try await owner.run(words)
            let roots = try await Tool.runProcess(words)
            expect(roots, owners.status)
            #expect(roots.status != 4, "\(words)")
            #expect(roots.output == owners.output)
        }
        expect(try await Tool.runProcess(["unshare", store, shared]))
        try expectOwned([old, new])
        expect(try await owner.run(["share", store, new]))
    }

    @Test("The old store's folder may be gone, with the journal elsewhere")
    func withoutFolder() async throws {
        try await makeStore()
        let state = chosen(true)
        expect(try await owner.run(["share", store, new] + state))
        expect(try await owner.run(["retire", store] + state))
        try FileManager.default.removeItem(atPath: old)
        for words in [["status", store, new], ["share", store, new], ["resume", store]] {
            let owners = try await owner.run(words + state)
            let roots = try await Tool.runProcess(words + state)
            expect(roots, owners.status)
            #expect(roots.output == owners.output)
            #expect(!roots.errors.contains("not this user's alone"), "\(roots.errors)")
        }
        try expectOwned([new, self.state])
    }

    @Test("What only root may read is not restored for whoever left a journal at the place")
    func restore() async throws {
        #expect(chown(old, 0, Self.user) == 0)
        #expect(chmod(old, 0o2775) == 0)
        try await makeStore()
        expect(try await Tool.runProcess(["backup", store, "--output", scratch.path("H.tar.zst")]))
        #expect(chown(scratch.path("H.tar.zst"), 0, 0) == 0)
        #expect(chmod(scratch.path("H.tar.zst"), 0o600) == 0)
        expect(try await owner.run(["share", store, new]))
        expect(try await owner.run(["retire", store]))
        let before = try scratch.fingerprint(withFolderTimes: false)
        let run = try await Tool.runProcess(["restore", scratch.path("H.tar.zst"), store])
        expect(run, 4)
        // The archive of the retired store lies there.
        #expect(run.errors.contains("not this user's alone") && !run.errors.contains("Remove"), "\(run.errors)")
        #expect(try scratch.fingerprint(withFolderTimes: false) == before)
    }

    @Test(
        "A journal that a stranger puts beside a store, or that two made, gets nothing done",
        arguments: [true, false]
    )
    func planted(isStoreThere: Bool) async throws {
        let stranger = try Nobody(scratch, number: 61_300)
        let planted = try stranger.folder("planted")
        try await stranger.shell("sqlite3 \(planted)/H.db 'CREATE TABLE t(a); INSERT INTO t VALUES(1);'")
        expect(try await stranger.run(["share", planted + "/H.db", try stranger.folder("elsewhere")]))
        if isStoreThere { try await makeStore() }
        try FileManager.default.moveItem(atPath: planted + "/.store-migrate", toPath: old + "/.store-migrate")
        if !isStoreThere { #expect(chown(old + "/.store-migrate/H.db/journal", Self.user, Self.user) == 0) }
        let before = try scratch.fingerprint()
        for words in [["status", store, new], ["share", store, new], ["unshare", store, shared], ["retire", store]] {
            let run = try await Tool.runProcess(words)
            #expect(run.status != 0, "\(words)")
            #expect(run.errors.contains("not this user's alone") || run.errors.contains("enied"), "\(run.errors)")
        }
        #expect(try scratch.fingerprint() == before)
    }

    @Test("Into a folder whose group has no number in the container, share ends as plan says")
    func unmappedGroup() async throws {
        try await makeStore()
        let program = try Tool.path
        let inContainer = "unshare --user --map-user=\(Self.user) --map-group=\(Self.user)"
        guard (try? await owner.shell(inContainer + " true")) != nil else { return }
        let group: UInt32 = 61_300
        #expect(chown(new, Self.user, group) == 0 && chmod(new, 0o2770) == 0)

        try await owner.shell("\(inContainer) '\(program)' plan \(store) \(new)")
        try await owner.shell("\(inContainer) '\(program)' share \(store) \(new)")

        #expect(try FileManager.default.attributesOfItem(atPath: shared)[.groupOwnerAccountID] as? UInt32 == group)
    }

    @Test("In a container that hides root, root's folders are not told to be another user's")
    func rootlessContainer() async throws {
        try await makeStore()
        let program = try Tool.path
        let inContainer = "unshare --user --map-user=\(Self.user) --map-group=\(Self.user)"
        // Where the machine allows no such container, there is nothing to see.
        guard (try? await owner.shell(inContainer + " true")) != nil else { return }
        try await owner.shell(
            "out=$(\(inContainer) '\(program)' plan \(store) \(new) --json) && grep -q finding <<<\"$out\""
                + " || { echo \"$out\" >&2; exit 9; }; ! grep oldPlaceExposed <<<\"$out\" >&2"
        )
    }
}
