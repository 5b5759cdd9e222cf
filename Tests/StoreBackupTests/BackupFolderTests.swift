import Foundation
import SafeFiles
import StoreAccess
import StoreFormat
import Synchronization
import TestSupport
import Testing

@testable import StoreBackup

@Suite("A folder of backups")
struct BackupFolderTests {
    private let world: BackupWorld
    private var folder: BackupFolder {
        BackupFolder(at: URL(filePath: world.archives.path, directoryHint: .isDirectory))
    }

    init() throws {
        world = try BackupWorld()
        try world.stores.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)", as: "one.sqlite")
        try world.stores.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (2)", as: "two.sqlite")
    }

    /// The time `day` days after 21 November 2026, 22:05:01.
    private func date(_ day: Int) -> Date { Date(timeIntervalSince1970: 1_795_298_701 + Double(day) * 86_400) }

    @Test("A backup's name contains the store and the time, and is never used twice")
    func names() throws {
        let first = try folder.add(world.stores.location("one.sqlite").url, at: date(0))
        let second = try folder.add(world.stores.location("one.sqlite").url, at: date(0))
        let list = try folder.list()
        let names = ["one.sqlite-20261121T220501Z.tar.zst", "one.sqlite-20261121T220501Z_02.tar.zst"]
        #expect(list.map(\.name) == names)
        #expect([first.path, second.path] == names.map { world.archives.path + "/" + $0 })
        #expect(try world.archives.directory.entries() == names)
        #expect(list.allSatisfy { $0.time == 1_795_298_701 })
        #expect(first.manifest == second.manifest)
    }

    @Test(
        "Of two backups of one second the newer is kept, also under the names of earlier versions",
        arguments: [true, false]
    )
    func prunesWithinOneSecond(_ isEarlierVersion: Bool) throws {
        var names: [String] = []
        for _ in 1...11 {
            let path = try folder.add(world.stores.location("one.sqlite").url, at: date(0)).path
            guard let name = path.split(separator: "/").last.map(String.init) else { continue }
            guard isEarlierVersion, let mark = name.firstIndex(of: "_"),
                let number = Int(name[mark...].dropFirst().prefix(2))
            else {
                names.append(name)
                continue
            }
            let dotted = name[..<mark] + ".\(number).tar.zst"
            try world.archives.directory.move(name, to: String(dotted), in: world.archives.directory)
            // Otherwise the next backup reuses the number.
            try world.archives.write(name, [])
            names.append(String(dotted))
        }
        for name in try world.archives.directory.entries() where !names.contains(name) {
            try world.archives.directory.removeFile(name)
        }

        #expect(try folder.list().map(\.name) == names)
        let pruned = try folder.prune(RetentionPolicy(last: 1), at: date(0))

        #expect(pruned.kept.map(\.name) == names.suffix(1))
        #expect(try world.archives.directory.entries() == names.suffix(1))
    }

    @Test("Concurrent backups of stores with one name get four names")
    func concurrentNames() throws {
        // One process may have a store open once only.
        let places = try (0..<4).map { _ in try ScratchFolder() }
        for place in places { try place.makeStore("CREATE TABLE t (x)", as: "one.sqlite") }
        let stores = places.map { $0.location("one.sqlite").url }
        let (folder, date) = (folder, date(0))
        let results = Mutex<[Result<BackupReport, any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: stores.count) { index in
            let result = Result { try folder.add(stores[index], at: date) }
            results.withLock { $0.append(result) }
        }
        let paths = try results.withLock { try $0.map { try $0.get().path } }
        #expect(Set(paths).count == stores.count)
        #expect(try folder.list().count == stores.count)
        withExtendedLifetime(places) {}
    }

    @Test("A backup whose name contains no time is dated by its file")
    func foreignName() throws {
        let archive = try world.make("one.sqlite", as: "mine.tar.zst")
        let time = try world.archives.directory.status(of: archive.name)?.modified.seconds
        #expect(try folder.list().map(\.time) == [time])
    }

    @Test("Pruning applies the policy to each store and leaves unreadable files")
    func prune() throws {
        for day in 0..<5 {
            for store in ["one.sqlite", "two.sqlite"] {
                try folder.add(world.stores.location(store).url, at: date(day))
            }
        }
        try world.archives.write("foreign.tar.zst", [1, 2, 3])
        let rehearsed = try folder.prune(RetentionPolicy(last: 2), isRehearsal: true, at: date(9))
        #expect(try world.archives.directory.entries().count == 11)
        let done = try folder.prune(RetentionPolicy(last: 2), at: date(9))
        #expect(done.removed.map(\.name) == rehearsed.removed.map(\.name))
        #expect(done.removed.count == 6)
        #expect(done.leftAlone.map(\.name) == ["foreign.tar.zst"])
        #expect(
            try world.archives.directory.entries() == [
                "foreign.tar.zst", "one.sqlite-20261124T220501Z.tar.zst", "one.sqlite-20261125T220501Z.tar.zst",
                "two.sqlite-20261124T220501Z.tar.zst", "two.sqlite-20261125T220501Z.tar.zst",
            ]
        )
    }

    @Test("The last good backup of a store is never removed, however old it is")
    func lastGood() throws {
        for day in 0..<4 { try folder.add(world.stores.location("one.sqlite").url, at: date(day)) }
        let names = try folder.list().map(\.name)
        for name in names.suffix(2) { try spoil(name) }
        let done = try folder.prune(RetentionPolicy(last: 1), at: date(9))
        #expect(done.kept.map(\.name) == [names[1], names[3]])
        #expect(try world.archives.directory.entries() == [names[1], names[3]])
    }

    @Test("A backup dated in the future is kept and does not count for the policy")
    func wrongClock() throws {
        for day in [0, 1, 2, 30_000] { try folder.add(world.stores.location("one.sqlite").url, at: date(day)) }
        let names = try folder.list().map(\.name)
        let done = try folder.prune(RetentionPolicy(last: 1), at: date(3))
        #expect(done.kept.map(\.name) == [names[2], names[3]])
        #expect(done.removed.map(\.name) == [names[0], names[1]])
        // With a clock that is behind, all backups are dated in the future; none is removed.
        #expect(try folder.prune(RetentionPolicy(last: 1), at: date(-30)).removed.isEmpty)
    }

    @Test("A backup dated exactly a day ahead counts for the policy")
    func dayAhead() throws {
        for day in [0, 1] { try folder.add(world.stores.location("one.sqlite").url, at: date(day)) }
        let names = try folder.list().map(\.name)
        let done = try folder.prune(RetentionPolicy(last: 1), at: date(0))
        #expect(done.kept.map(\.name) == [names[1]])
        #expect(done.removed.map(\.name) == [names[0]])
    }

    @Test("Hidden files, folders and files with other names are not backups")
    func othersInFolder() throws {
        let backup = try folder.add(world.stores.location("one.sqlite").url, at: date(0))
        let bytes = try world.archives.bytes(StoreLocation(path: backup.path).name)
        for name in [".hidden.tar.zst", "notes.txt"] { try world.archives.write(name, bytes) }
        _ = try world.archives.directory.createDirectory("folder.tar.zst", mode: 0o700)
        #expect(try folder.list().map(\.name) == [StoreLocation(path: backup.path).name])
    }

    @Test("Backups belong together by the store's identifier, or its name if it has none", arguments: ["U", nil])
    func series(uuid: String?) {
        let store = BackupManifest.Store(
            name: "s",
            kind: .coreData,
            uuid: uuid,
            model: nil,
            frameworkVersion: nil,
            entities: [],
            history: nil,
            digest: "",
            mode: 0o600
        )
        let backup = KeptBackup(
            name: "a",
            bytes: 1,
            manifest: BackupManifest(tool: "tests", store: store, members: []),
            problem: nil,
            stamp: BackupStamp(time: 1, number: 1),
            modified: FileStatus.Time(seconds: 1, nanoseconds: 0)
        )
        #expect(backup.series == uuid ?? "s")
    }

    @Test("A store without a good backup keeps all its backups")
    func noneGood() throws {
        for day in 0..<3 { try folder.add(world.stores.location("one.sqlite").url, at: date(day)) }
        for backup in try folder.list() { try spoil(backup.name) }
        #expect(try folder.prune(RetentionPolicy(last: 1), at: date(9)).removed.isEmpty)
        #expect(try world.archives.directory.entries().count == 3)
    }

    @Test("A check reports each bad archive with its problem")
    func check() throws {
        try folder.add(world.stores.location("one.sqlite").url, at: date(0))
        let bad = try folder.add(world.stores.location("one.sqlite").url, at: date(1))
        try spoil(StoreLocation(path: bad.path).name)
        var verdicts: [KeptBackup] = []
        try folder.check { verdicts.append($0) }
        #expect(verdicts.map { $0.problem == nil } == [true, false])
        #expect(verdicts.last?.problem?.isEmpty == false)
    }

    @Test(
        "A request to stop ends a check and a list at every point, and is not reported as a problem of the archive",
        arguments: [true, false]
    )
    func cancelled(isCheck: Bool) throws {
        for day in 0...1 { try folder.add(world.stores.location("one.sqlite").url, at: date(day)) }
        let points = try BackupWorld.stopAtEachPoint { isCancelled in
            let stopping = BackupFolder(at: folder.url, isCancelled: isCancelled)
            var problems: [String] = []
            defer { #expect(problems.isEmpty) }
            if isCheck {
                try stopping.check { problems += [$0.problem].compactMap { $0 } }
            } else {
                problems += try stopping.list().compactMap(\.problem)
            }
        }
        #expect(points > 3)
    }

    @Test("A folder that does not exist is reported as such")
    func absentFolder() throws {
        let absent = BackupFolder(at: world.archives.location("absent").url)
        for work in [{ _ = try absent.list() }, { try absent.check { _ in } }] {
            let error = #expect(throws: BackupError.self) { try work() }
            #expect(error?.code == .absent)
        }
    }

    /// Replaces an archive by one whose store does not match its manifest.
    private func spoil(_ name: String) throws {
        let archive = world.archives.location(name)
        var members = try world.members(of: archive)
        members[1].bytes[members[1].bytes.count - 1] ^= 1
        try world.archives.directory.removeFile(name)
        let file = try world.archives.directory.createFile(name, mode: 0o600)
        let writer = try ArchiveWriter(to: file, form: .standard)
        for member in members { try writer.add(member.name, member.bytes) }
        _ = try writer.finish()
        try file.close()
    }
}
