import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Whether the store at the new path is the shared one")
struct OtherStoreAtNewTests {
    /// A pair with a row written at each place; the receipt is lost.
    private func livesWithoutReceipt(storeIsReplaced: Bool) throws -> Lives {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.write("INSERT INTO t VALUES (9, 'new')", at: "b")
        try lives.write("INSERT INTO t VALUES (3, 'late')", at: "a")
        let (folder, name) = (try lives.folder("b").directory, try lives.store("b").name)
        try folder.removeFile(ReceiptFile.receiptName(for: name))
        guard storeIsReplaced else { return lives }
        try replaceFile(at: "b", in: lives)
        return lives
    }

    /// Replaces the store's file by a copy; the former file stays, so that the copy has another inode.
    private func replaceFile(at place: String, in lives: Lives) throws {
        let (folder, name) = (try lives.folder(place), try lives.store(place).name)
        try lives.write("VACUUM INTO '\(folder.path)/copy'", at: place)
        try folder.directory.move(name, to: "former", in: folder.directory)
        try folder.directory.move("copy", to: name, in: folder.directory)
    }

    @Test("A plain store without its receipt is recognised by its file")
    func receiptLost() throws {
        let lives = try livesWithoutReceipt(storeIsReplaced: false)

        let share = try lives.share("a", "b")

        #expect(share.outcome == .merged)
        #expect(try lives.values(at: "b") == ["one", "two", "late", "new"])
        try lives.retire("a")
    }

    @Test("Late writes still reach a store that was shared on, and whose content came back", arguments: [false, true])
    func cameBack(fileIsReplaced: Bool) throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.share("b", "c")
        try lives.write("INSERT INTO t VALUES (9, 'new')", at: "c")
        try lives.unshare("b", "c")
        try lives.write("INSERT INTO t VALUES (3, 'late')", at: "a")
        // Then only the receipt names the run.
        if fileIsReplaced { try replaceFile(at: "b", in: lives) }

        #expect(try lives.share("a", "b").outcome == .merged)
        #expect(try lives.values(at: "b") == ["one", "two", "late", "new"])
    }

    @Test("The status of a pair with another store at the new path lists the decisions, and each of them ends there")
    func decisions() throws {
        for decision in [ShareOptions.BothPlacesPolicy.keepOld, .keepNew, .merge] {
            let lives = try livesWithoutReceipt(storeIsReplaced: true)
            #expect(try lives.share("a", "b").outcome == .needsDecision)
            let offered = try lives.status("a", "b").choices
                .compactMap { step -> ShareOptions.BothPlacesPolicy? in
                    if case .share(_, _, let decision?, _, _) = step { decision } else { nil }
                }
            #expect(offered == [.merge, .keepOld, .keepNew])

            let share = try lives.share("a", "b") {
                $0.onBoth = decision
                $0.merging = MergeSettings(identities: ["t": ["id"]])
            }

            #expect(!share.outcome.isRefusal, "\(decision): \(share)")
            let wanted =
                switch decision {
                case .keepOld: ["one", "two", "late"]
                case .keepNew: ["one", "two", "new"]
                default: ["one", "two", "late", "new"]
                }
            #expect(try lives.values(at: "b") == wanted, "\(decision)")
            #expect(try lives.share("a", "b").outcome == .alreadyShared, "\(decision)")
        }
    }

    @Test("A decision that is refused leaves the record of the pair and its base")
    func refusedDecision() throws {
        let lives = try livesWithoutReceipt(storeIsReplaced: true)
        let before = try lives.state("a")

        #expect(throws: MigrationError.self) { try lives.share("a", "b") { $0.onBoth = .merge } }

        #expect(try lives.state("a") == before)
        let base = try #require(before.base)
        let folder = StateFolder(of: try lives.store("a"), stateFolder: nil)
        #expect(try folder.open().status(of: base.name) != nil)
    }
}
