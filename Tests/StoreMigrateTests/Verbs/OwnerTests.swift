import FoundationEssentials
import Glibc
import SafeFiles
import Testing

@Suite("Root acts as the owner of a retired store", .enabled(if: ProcessIdentity.effectiveUser == 0))
struct OwnerTests {
    /// A user ID that is not in the user database.
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

    /// Expects that everything below the given folders belongs to the user.
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

    @Test("A store that root shares, retires and unshares belongs to its owner again", arguments: [false, true])
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

    @Test("Root acts as the owner of the journal when the old folder belongs to root")
    func folderOfRoot() async throws {
        #expect(chown(old, 0, Self.user) == 0)
        #expect(chmod(old, 0o2775) == 0)
        try await makeStore()
        expect(try await owner.run(["share", store, new]))
        expect(try await owner.run(["retire", store]))
        for words in [["status", store, new], ["plan", store, new], ["share", store, new], ["resume", store]] {
            let owners = try await owner.run(words)
            let roots = try await Tool.runProcess(words, environment: ["HOME": scratch.path])
            expect(roots, owners.status)
            #expect(roots.status != 4, "\(words)")
            #expect(roots.output == owners.output)
        }
        expect(try await Tool.runProcess(["unshare", store, shared]))
        try expectOwned([old, new])
        expect(try await owner.run(["share", store, new]))
    }

    @Test("With --state, a missing old folder does not stop status, share and resume by root")
    func withoutFolder() async throws {
        try await makeStore()
        let state = chosen(true)
        expect(try await owner.run(["share", store, new] + state))
        expect(try await owner.run(["retire", store] + state))
        try FileManager.default.removeItem(atPath: old)
        for words in [["status", store, new], ["share", store, new], ["resume", store]] {
            let owners = try await owner.run(words + state)
            let roots = try await Tool.runProcess(words + state, environment: ["HOME": scratch.path])
            expect(roots, owners.status)
            #expect(roots.output == owners.output)
            #expect(!roots.errors.contains("have written the journal"), "\(roots.errors)")
        }
        try expectOwned([new, self.state])
    }

    @Test("restore by root refuses a folder with another user's journal, and changes nothing")
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
        // The folder contains the archive of the retired store.
        #expect(run.errors.contains("have written the journal") && !run.errors.contains("Remove"), "\(run.errors)")
        #expect(try scratch.fingerprint(withFolderTimes: false) == before)
    }

    @Test(
        "Verbs run by root refuse a journal planted by another user, and change nothing",
        arguments: [true, false]
    )
    func planted(isStoreThere: Bool) async throws {
        let other = try Nobody(scratch, number: 61_300)
        let planted = try other.folder("planted")
        try await other.shell("sqlite3 \(planted)/H.db 'CREATE TABLE t(a); INSERT INTO t VALUES(1);'")
        expect(try await other.run(["share", planted + "/H.db", try other.folder("elsewhere")]))
        if isStoreThere { try await makeStore() }
        try FileManager.default.moveItem(atPath: planted + "/.store-migrate", toPath: old + "/.store-migrate")
        if !isStoreThere { #expect(chown(old + "/.store-migrate/H.db/journal", Self.user, Self.user) == 0) }
        let before = try scratch.fingerprint()
        for words in [["status", store, new], ["share", store, new], ["unshare", store, shared], ["retire", store]] {
            let run = try await Tool.runProcess(words)
            #expect(run.status != 0, "\(words)")
            #expect(run.errors.contains("have written the journal") || run.errors.contains("enied"), "\(run.errors)")
        }
        #expect(try scratch.fingerprint() == before)
    }

    @Test("In a container without the folder's group, share succeeds as plan predicts")
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

    @Test("In a container that does not map root, plan does not report root's folders as oldPlaceExposed")
    func rootlessContainer() async throws {
        try await makeStore()
        let program = try Tool.path
        let inContainer = "unshare --user --map-user=\(Self.user) --map-group=\(Self.user)"
        // Skips machines that do not allow such a container.
        guard (try? await owner.shell(inContainer + " true")) != nil else { return }
        try await owner.shell(
            "out=$(\(inContainer) '\(program)' plan \(store) \(new) --json) && grep -q finding <<<\"$out\""
                + " || { echo \"$out\" >&2; exit 9; }; ! grep oldPlaceExposed <<<\"$out\" >&2"
        )
    }

    @Test(
        "An unshare of a new store that another user owns ends: the content is back, and a finding says that the new one stays"
    )
    func leaseRefused() async throws {
        let (_, store, group, user) = try await twoUsers(sticky: false)
        #expect(try await user.run(["share", store, group, "--on-both", "merge"]).status == 0)
        let run = try await user.run(["unshare", store, "\(group)/s.sqlite"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("[notWithdrawn]"), "\(run.errors)")
        try await user.shell("sqlite3 '\(store)' \"INSERT INTO t VALUES ('later')\"")
        #expect(try await SQLiteProgram.run(store, "SELECT count(*) FROM t") == "3\n")
    }

    @Test(
        "An unshare without room for its journal advises what helps: root acts as the old store's owner, too",
        arguments: [true, false]
    )
    func journalRefused(_ isThere: Bool) async throws {
        let (scratch, store, group, user) = try await twoUsers(sticky: false)
        #expect(try await user.run(["share", store, group, "--on-both", "merge"]).status == 0)
        let journal = "\(group)/.store-migrate"
        if isThere {
            try FileManager.default.createDirectory(
                atPath: journal,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        } else {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: group)
        }
        let before = try scratch.fingerprint()
        let words = ["unshare", store, "\(group)/s.sqlite"]
        for run in [try await user.run(words), try await Tool.runProcess(words)] {
            #expect(run.status == 12, "\(run.errors)")
            let advice =
                isThere
                ? "\(journal): cannot create the unshare's journal beside the new store: cannot open the folder, Permission"
                    + " denied. Nothing was changed. Have the owner of this folder remove it, once no run of theirs needs it."
                : "\(group): cannot create the unshare's journal beside the new store: cannot create or write the journal's"
                    + " folder. Nothing was changed. Let the owner of the old store write to this folder, with chmod or setfacl."
            #expect(run.errors.contains(advice), "\(run.errors)")
        }
        #expect(try scratch.fingerprint() == before)
    }

    @Test("In a folder with the sticky bit, a share that could not replace another user's receipt is refused first")
    func sticky() async throws {
        let (scratch, store, group, user) = try await twoUsers(sticky: true)
        let before = try scratch.fingerprint()
        for verb in ["plan", "share"] {
            let run = try await user.run([verb, store, group, "--on-both", "merge"])
            #expect(run.status == 12, "\(verb): \(run.output)\(run.errors)")
            #expect((run.output + run.errors).contains("sticky bit"), "\(run.output)\(run.errors)")
        }
        #expect(try scratch.fingerprint() == before)
    }

    /// A group folder for all users with root's store, which was shared if the folder is `sticky`, and a user's own store.
    private func twoUsers(sticky: Bool) async throws -> (Scratch, store: String, group: String, Nobody) {
        let scratch = try Scratch()
        let user = try Nobody(scratch)
        let group = try scratch.folder("group")
        try scratch.folder("mine")
        let mine = try await scratch.store(
            "mine/s.sqlite",
            "CREATE TABLE t (k TEXT PRIMARY KEY); INSERT INTO t VALUES ('root')"
        )
        if sticky {
            #expect(try await Tool.run(["share", mine, group]).status == 0)
        } else {
            try FileManager.default.copyItem(atPath: mine, toPath: "\(group)/s.sqlite")
        }
        try FileManager.default.setAttributes([.posixPermissions: sticky ? 0o1777 : 0o777], ofItemAtPath: group)
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: "\(group)/s.sqlite")
        let store = try user.folder("theirs") + "/s.sqlite"
        try await user.shell(
            "sqlite3 '\(store)' \"CREATE TABLE t (k TEXT PRIMARY KEY); INSERT INTO t VALUES ('user')\""
        )
        return (scratch, store, group, user)
    }
}
