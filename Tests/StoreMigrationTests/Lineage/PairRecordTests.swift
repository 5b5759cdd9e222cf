import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreBackup
import TestSupport
import Testing

@testable import StoreMigration

@Suite("The record of a pair after writes by the tool")
struct PairRecordTests {
    /// a was shared to b, and b's row 3 merged into a.
    private func mergedIntoOld() throws -> Lives {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.write("INSERT INTO t VALUES (3, 'u2')", at: "b")
        #expect(try lives.merge(into: "a", from: "b").outcome == .merged)
        #expect(try lives.values(at: "a") == ["one", "two", "u2"])
        return lives
    }

    @Test("A row that was merged into the old store and undone there stays in the new store")
    func unmergedFromOld() throws {
        let lives = try mergedIntoOld()
        #expect(try lives.share("a", "b").outcome == .alreadyShared)

        try lives.unmerge("a")

        #expect(try lives.values(at: "a") == ["one", "two"])
        #expect(try lives.share("a", "b").outcome == .alreadyShared)
        #expect(try lives.values(at: "b") == ["one", "two", "u2"])
    }

    @Test("A row that was merged into the old store and then changed in the new one is not duplicated")
    func changedAfterMerge() throws {
        let lives = try mergedIntoOld()
        try lives.write("UPDATE t SET v = 'changed' WHERE id = 3", at: "b")

        try lives.share("a", "b")

        #expect(try lives.values(at: "b") == ["one", "two", "changed"])
        try lives.merge(into: "a", from: "b")
        #expect(try lives.values(at: "a") == ["one", "two", "changed"])
    }

    @Test("Late writes from before and after a merge into the old store are carried, with deletions")
    func lateWritesAroundMerge() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.write("INSERT INTO t VALUES (10, 'before'); UPDATE t SET v = 'ONE' WHERE id = 1", at: "a")
        try lives.write("INSERT INTO t VALUES (3, 'u2')", at: "b")
        try lives.merge(into: "a", from: "b")
        try lives.write("INSERT INTO t VALUES (11, 'after'); DELETE FROM t WHERE id = 2", at: "a")

        #expect(try lives.status("a", "b").lateWrites == .found)
        #expect(try lives.share("a", "b").outcome == .merged)

        #expect(try lives.values(at: "b") == ["ONE", "u2", "before", "after"])
        #expect(try lives.status("a", "b").lateWrites == .none)
    }

    @Test("Late writes merged with the merge command are not merged again by a later share")
    func mergedIntoNew() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.write("INSERT INTO t VALUES (7, 'late')", at: "a")
        #expect(try lives.merge(into: "b", from: "a").outcome == .merged)
        try lives.write("UPDATE t SET v = 'later' WHERE id = 7", at: "b")

        #expect(try lives.share("a", "b").outcome == .alreadyShared)

        #expect(try lives.values(at: "b") == ["one", "two", "later"])
        #expect(try lives.merge(into: "b", from: "a").outcome == .done)
    }

    @Test("After an earlier copy of the journal is put back, no late row is merged a second time")
    func earlierJournal() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        let journal = URL(filePath: try lives.store("a").folder + "/.store-migrate")
        let copy = URL(filePath: try lives.store("c").folder + "/copy")
        try FileManager.default.copyItem(at: journal, to: copy)
        // The late row gets another key at b.
        try lives.write("INSERT INTO t VALUES (3, 'late')", at: "a")
        try lives.write("INSERT INTO t VALUES (3, 'of b')", at: "b")
        #expect(try lives.share("a", "b").outcome == .merged)
        #expect(try lives.values(at: "b") == ["one", "two", "of b", "late"])
        try FileManager.default.removeItem(at: journal)
        try FileManager.default.copyItem(at: copy, to: journal)

        let status = try lives.status("a", "b")
        #expect(status.lateWrites == .unknown)
        #expect(status.findings.contains { $0.code == .commonStateUnknown })
        #expect(throws: MigrationError.self) { try lives.merge(into: "b", from: "a") }
        #expect(throws: MigrationError.self) { try lives.unshare("a", "b") }
        #expect(try lives.share("a", "b").outcome == .bothHoldObjects)

        #expect(try lives.values(at: "b") == ["one", "two", "of b", "late"])
        #expect(try lives.values(at: "a") == ["one", "two", "late"])
    }

    @Test("The status of a pair names the third store to which its captured new store was shared")
    func capturedChain() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        #expect(try !lives.status("a", "b").findings.contains { $0.code == .sharedOn })
        try lives.share("b", "c")

        let finding = try #require(lives.status("a", "b").findings.first { $0.code == .sharedOn })
        #expect(finding.severity == .info)
        #expect(finding.message.contains(try lives.store("c").path))
        #expect(try !lives.status("b", "c").findings.contains { $0.code == .sharedOn })
        // A fenced one is out of use, which the status says otherwise.
        try lives.share("b", "c", .fence)
        #expect(try !lives.status("a", "b").findings.contains { $0.code == .sharedOn })
    }

    @Test("A journal that is restored together with its unchanged store keeps the pair's record")
    func earlierJournalAndStore() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        let folder = try lives.store("a").folder
        let copy = URL(filePath: try lives.store("c").folder + "/copy")
        try FileManager.default.copyItem(at: URL(filePath: folder), to: copy)
        try lives.write("INSERT INTO t VALUES (3, 'late')", at: "a")
        #expect(try lives.share("a", "b").outcome == .merged)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: copy.path) {
            try FileManager.default.copyItem(atPath: copy.path + "/" + name, toPath: folder + "/" + name)
        }

        #expect(try lives.share("a", "b").outcome == .alreadyShared)

        #expect(try lives.values(at: "b") == ["one", "two", "late"])
    }

    @Test("Undoing a merge that a later base builds on voids the record, and deletes nothing")
    func builtOnMerge() throws {
        let lives = try mergedIntoOld()
        try lives.write("INSERT INTO t VALUES (7, 'late')", at: "a")
        #expect(try lives.share("a", "b").outcome == .merged)

        try lives.unmerge("a")

        #expect(try lives.isVoid("a"))
        #expect(try lives.values(at: "a") == ["one", "two", "late"])
        #expect(try lives.share("a", "b").outcome == .bothHoldObjects)
        #expect(try lives.values(at: "b") == ["one", "two", "u2", "late"])
        let status = try lives.status("a", "b")
        #expect(status.findings.contains { $0.code == .commonStateUnknown })
        #expect(status.lateWrites == .unknown)
        #expect(throws: MigrationError.self) { try lives.retire("a") }
        #expect(throws: MigrationError.self) { try lives.unshare("a", "b") }
    }

    @Test("Rows of a third store that were carried and then undone in the old store stay in the new one")
    func thirdStoreTakenBack() throws {
        let lives = try Lives()
        _ = try lives.folder("c")
            .makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (30, 'third')")
        try lives.share("a", "b")
        #expect(try lives.merge(into: "a", from: "c", identifiedBy: "v").outcome == .merged)
        #expect(try lives.share("a", "b").outcome == .merged)
        #expect(try lives.values(at: "b").contains("third"))

        try lives.unmerge("a")

        #expect(try !lives.values(at: "a").contains("third"))
        #expect(try lives.share("a", "b").outcome == .bothHoldObjects)
        #expect(try lives.values(at: "b").contains("third"))
    }

    @Test("An unmerge from the new store voids its record with a third store")
    func takenBackBeforeNextHop() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.write("INSERT INTO t VALUES (7, 'late')", at: "a")
        try lives.share("a", "b")
        try lives.share("b", "c")
        #expect(try lives.values(at: "c").contains("late"))

        try lives.unmerge("b")

        #expect(try lives.isVoid("b"))
        #expect(try !lives.isVoid("a"))
        #expect(try lives.share("b", "c").outcome == .bothHoldObjects)
        #expect(try lives.values(at: "c").contains("late"))
        #expect(try lives.share("a", "b").outcome == .merged)
        #expect(try lives.values(at: "b").contains("late"))
    }

    @Test("Equal stores with a void record become a pair again")
    func adoptedAgain() throws {
        let lives = try mergedIntoOld()
        try lives.write("INSERT INTO t VALUES (7, 'late')", at: "a")
        try lives.share("a", "b")
        try lives.unmerge("a")
        try lives.write("INSERT INTO t VALUES (3, 'u2')", at: "a")
        #expect(try lives.isVoid("a"))

        #expect(try lives.share("a", "b").outcome == .alreadyShared)

        #expect(try lives.status("a", "b").lateWrites == .none)
    }

    @Test(
        "A share of the new store back to the old one is refused in favour of unshare",
        arguments: ShareOptions.OldStorePolicy.allCases
    )
    func otherDirection(policy: ShareOptions.OldStorePolicy) throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.write("INSERT INTO t VALUES (7, 'late')", at: "a")
        try lives.share("a", "b", policy)
        try lives.write("INSERT INTO t VALUES (3, 'u2')", at: "b")

        let outcome = try lives.share("b", "a", .capture) { $0.onBoth = .keepOld }

        #expect(outcome.outcome == .needsDecision)
        #expect(try outcome.next == .unshare(old: lives.store("a").path, new: lives.store("b").path))
        try lives.unshare("a", "b")
        try lives.write("UPDATE t SET v = 'edited' WHERE id = 3", at: "a")
        #expect(try lives.values(at: "a") == ["one", "two", "edited", "late"])
    }

    @Test("A restore over the new store voids the record, and deletes nothing from the old store")
    func restoredNewStore() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        let archive = try lives.folder("c").location("backup.tar").url
        _ = try BackupMaker(of: lives.store("b").url).make(at: archive)
        try lives.write("INSERT INTO t VALUES (7, 'late')", at: "a")
        try lives.share("a", "b")
        var options = RestoreOptions()
        options.overwrite = .always

        #expect(
            try StoreRestorer(to: lives.store("b").url, options: options).restoreAndWait(from: archive).outcome
                == .restored
        )

        #expect(try lives.values(at: "b") == ["one", "two"])
        #expect(try lives.isVoid("a"))
        #expect(try lives.share("a", "b").outcome == .bothHoldObjects)
        #expect(throws: MigrationError.self) { try lives.retire("a") }
    }

    @Test("Rows that reach the old store by way of a third one are not carried to the new store again")
    func cycleOfShares() throws {
        let lives = try Lives()
        try lives.share("a", "c")
        try lives.write("INSERT INTO t VALUES (3, 'u2')", at: "c")
        try lives.share("c", "b")
        try lives.write("UPDATE t SET v = 'edited' WHERE id = 3", at: "c")

        let merge = try lives.merge(into: "a", from: "b", identifiedBy: "v")

        #expect(merge.outcome == .merged)
        #expect(merge.findings.map(\.code).contains(.commonStateUnknown))
        #expect(try lives.values(at: "a") == ["one", "two", "u2"])
        #expect(try lives.isVoid("a"))
        #expect(try lives.share("a", "c").outcome == .bothHoldObjects)
        #expect(throws: MigrationError.self) { try lives.merge(into: "c", from: "a") }
        #expect(try lives.values(at: "c") == ["one", "two", "edited"])
        // The pair that is not in the cycle keeps its record.
        #expect(try lives.share("c", "b").outcome == .merged)
    }

    @Test(
        "Rows of a third store that were merged into both stores of a pair are not carried again",
        arguments: [true, false]
    )
    func cycleOfMerges(isOldFirst: Bool) throws {
        let lives = try Lives()
        _ = try lives.folder("b")
            .makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (9, 'third')")
        try lives.share("a", "c")
        let (first, second) = isOldFirst ? ("a", "c") : ("c", "a")
        #expect(try lives.merge(into: first, from: "b", identifiedBy: "v").findings.isEmpty)
        #expect(try !lives.isVoid("a"))

        #expect(try lives.merge(into: second, from: "b", identifiedBy: "v").findings.count == 1)

        #expect(try lives.isVoid("a"))
        try lives.write("UPDATE t SET v = 'edited' WHERE v = 'third'", at: "c")
        #expect(try lives.share("a", "c").outcome == .bothHoldObjects)
        #expect(try lives.values(at: "c") == ["one", "two", "edited"])
    }

    /// How an app creates its store again at the old path.
    enum Recreation: CaseIterable {
        /// The file system may give the new file the inode of the removed one.
        case removed
        case besideTheFormer
        case renamedOver
    }

    @Test(
        "A store that an app creates again at the old path deletes and changes nothing in the new one",
        arguments: Recreation.allCases,
        [false, true]
    )
    func createdAgain(_ recreation: Recreation, hasRows: Bool) throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.write("INSERT INTO t VALUES (3, 'u2')", at: "b")
        let folder = try lives.folder("a")
        let name = try lives.store("a").name
        let sql =
            "PRAGMA journal_mode = wal; CREATE TABLE t (id INTEGER PRIMARY KEY, v);"
            + (hasRows ? "INSERT INTO t VALUES (1, 'own')" : "")
        switch recreation {
        case .removed:
            try folder.directory.removeFile(name)
            _ = try folder.makeStore(sql)
        case .besideTheFormer:
            try folder.directory.move(name, to: "former", in: folder.directory)
            _ = try folder.makeStore(sql)
        case .renamedOver:
            _ = try folder.makeStore(sql, as: "fresh.sqlite")
            try folder.directory.removeFile(name)
            try folder.directory.move("fresh.sqlite", to: name, in: folder.directory)
        }

        let status = try lives.status("a", "b")
        #expect(status.findings.map(\.code).contains(.commonStateUnknown))
        #expect(throws: MigrationError.self) { try lives.unshare("a", "b") }
        let share = try lives.share("a", "b")

        #expect(share.outcome == (hasRows ? .bothHoldObjects : .alreadyShared), "\(share)")
        #expect(try lives.values(at: "b") == ["one", "two", "u2"])
        #expect(try lives.values(at: "a") == (hasRows ? ["own"] : []))
    }

    @Test("An unshare in the wrong direction is refused, and the fence stays")
    func wrongDirection() throws {
        let lives = try Lives()
        try lives.share("a", "b", .fence)
        try lives.unshare("a", "b")
        try lives.share("a", "b", .fence)

        let error = #expect(throws: MigrationError.self) { try lives.unshare("b", "a") }

        #expect(error?.outcome == .needsDecision)
        #expect(try error?.next == .unshare(old: lives.store("a").path, new: lives.store("b").path))
        #expect(throws: (any Error).self) { try lives.write("INSERT INTO t VALUES (3, 'late')", at: "a") }
        #expect(try lives.share("a", "b", .fence).outcome == .alreadyShared)
    }

    @Test("A share in the other direction after a retirement has the default choices, not those of the former pair")
    func otherDirectionAfterRetirement() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.retire("a")

        try StoreMigrator(from: lives.store("b").url, to: lives.store("a").url).shareStoreIfNecessaryAndWait()

        #expect(throws: (any Error).self) { try lives.write("INSERT INTO t VALUES (3, 'late')", at: "b") }
    }

    @Test("A share in the other direction after two unshares has the default choices")
    func otherDirectionAfterTwoUnshares() throws {
        let lives = try Lives()
        try lives.share("a", "b")
        try lives.unshare("a", "b")
        try lives.unshare("b", "a")

        try StoreMigrator(from: lives.store("b").url, to: lives.store("a").url).shareStoreIfNecessaryAndWait()

        #expect(throws: (any Error).self) { try lives.write("INSERT INTO t VALUES (3, 'late')", at: "b") }
    }
}
