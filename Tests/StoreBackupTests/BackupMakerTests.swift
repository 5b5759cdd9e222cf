import Foundation
import SafeFiles
import StoreAccess
import Synchronization
import TestSupport
import Testing

@testable import StoreBackup

@Suite("Making a backup")
struct BackupMakerTests {
    @Test("A backup contains the external files and the relay")
    func companions() throws {
        let world = try BackupWorld()
        try world.stores.makeStore("CREATE TABLE t (x)", as: "Habits.sqlite")
        try world.stores.makeStore("PRAGMA journal_mode=wal; CREATE TABLE n (x)", as: ".Habits.sqlite.relay.sqlite")
        let external = try world.stores.directory.createDirectory(".Habits_SUPPORT", mode: 0o755)
            .createDirectory("_EXTERNAL_DATA", mode: 0o755)
        for name in ["B", "A"] {
            let file = try external.createFile(name, mode: 0o644)
            try Array(name.utf8).withUnsafeBytes { try file.write($0, at: 0) }
        }
        let archive = try world.make("Habits.sqlite")
        #expect(
            try world.members(of: archive).map(\.name) == [
                "manifest.json", ".Habits.sqlite.relay.sqlite", ".Habits_SUPPORT/_EXTERNAL_DATA/A",
                ".Habits_SUPPORT/_EXTERNAL_DATA/B", "Habits.sqlite",
            ]
        )
        let unpacked = try BackupArchive(at: archive.url).unpacked()
        #expect(try ExternalData.open(of: unpacked.location, in: unpacked.folder)?.entries() == ["A", "B"])
        #expect(try unpacked.folder.status(of: ".Habits.sqlite.relay.sqlite")?.mode == 0o600)
    }

    @Test("A relay that is not a database is a finding, and the store is backed up without it")
    func unreadableRelay() throws {
        let world = try BackupWorld()
        try world.stores.makeStore("CREATE TABLE t (x)")
        try world.stores.write(".store.sqlite.relay.sqlite", Array("no database at all, but long enough".utf8))
        let report = try world.maker(world.stores.location("store.sqlite")).make(at: world.archives.location("a").url)
        #expect(report.findings.map(\.code) == [.relayNotBackedUp])
        #expect(report.manifest.members.map(\.name) == ["store.sqlite"])
    }

    @Test(
        "A store that compresses more than 200 to 1 is archived uncompressed, and every reader accepts the archive",
        arguments: [BackupForm(.pax, .zstd), BackupForm(.pax, .gzip), BackupForm(.zip)].compactMap { $0 }
    )
    func compressible(_ form: BackupForm) throws {
        let world = try BackupWorld()
        let size = 96 << 20
        try world.stores.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(\(size)))")

        let archive = try world.make("store.sqlite", form: form)

        #expect(try BackupArchive(at: archive.url).check().byteCount > size)
        #expect(try world.archives.directory.status(of: archive.name)?.size ?? 0 > size)
        let tests = [".tar.zst": ["zstd", "-tq"], ".tar.gz": ["gzip", "-t"], ".zip": ["unzip", "-tq"]]
        let test = try #require(tests[form.fileNameEnd])
        #expect(try Program(test[0], Array(test.dropFirst()) + [archive.path]).status == 0)
        // A pipe has no known length.
        let file = try world.archives.directory.openFile(archive.name, for: .reading)
        guard form.format == .pax else { return }
        var offset: Int64 = 0
        let stream = ArchiveSource(stream: "-") { buffer in
            defer { offset += Int64(buffer.count) }
            return try file.read(into: buffer, at: offset)
        }
        #expect(try UnpackedBackup(stream).manifest.byteCount > size)
    }

    @Test("A relay that is larger than the free space is left out with a finding, and the store is backed up")
    func sparseRelay() throws {
        let world = try BackupWorld()
        try world.stores.makeStore("CREATE TABLE t (x)")
        let relay = try world.stores.directory.createFile(".store.sqlite.relay.sqlite", mode: 0o600)
        try relay.truncate(to: 1 << 42)
        try relay.close()
        let report = try world.maker(world.stores.location("store.sqlite")).make(at: world.archives.location("a").url)
        #expect(report.findings.map(\.code) == [.relayNotBackedUp])
        #expect(report.manifest.members.map(\.name) == ["store.sqlite"])
    }

    @Test("A file with the archive's name is never overwritten", arguments: [true, false])
    func taken(isFolder: Bool) throws {
        let world = try BackupWorld()
        try world.stores.makeStore("CREATE TABLE t (x)")
        if isFolder {
            _ = try world.archives.directory.createDirectory("a", mode: 0o700)
        } else {
            try world.archives.write("a", [1, 2, 3])
        }
        let before = try world.archives.everything()
        let error = #expect(throws: BackupError.self) {
            try world.maker(world.stores.location("store.sqlite")).make(at: world.archives.location("a").url)
        }
        #expect(error?.code == .exists)
        #expect(try world.archives.everything() == before)
    }

    @Test("A damaged store is not backed up and leaves no files")
    func unsound() throws {
        let world = try BackupWorld()
        try world.stores.write("text", Array("this is a text and not a database, despite its file name".utf8))
        try world.stores.write("empty", [])
        let store = try world.stores.makeStore(
            "CREATE TABLE t (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 5000)"
                + " INSERT INTO t SELECT hex(randomblob(20)) FROM n",
            as: "torn"
        )
        let size = try #require(try world.stores.directory.status(of: store.name)?.size)
        try world.stores.directory.openFile(store.name, for: .writing).truncate(to: size / 2)
        for name in ["text", "empty", "torn", "absent"] {
            #expect(throws: (any Error).self) { try world.make(name) }
        }
        #expect(try world.archives.directory.entries().isEmpty)
    }

    @Test("A backup to a stream has the same bytes as one to a file")
    func stream() throws {
        let (world, archive) = try BackupWorld.small()
        var bytes: [UInt8] = []
        let report = try world.maker(world.stores.location("store.sqlite")).make { bytes.append(contentsOf: $0) }
        #expect(report.path == "-")
        #expect(try bytes == world.archives.bytes(archive.name))
        var rest = bytes[...]
        let source = ArchiveSource(stream: "-") { buffer in
            let part = rest.prefix(min(7, buffer.count))
            buffer.copyBytes(from: part)
            rest = rest.dropFirst(part.count)
            return part.count
        }
        #expect(try UnpackedBackup(source).manifest == report.manifest)
    }

    @Test("Store names of every alphabet survive backup and restore in every form", arguments: BackupForm.all)
    func names(form: BackupForm) throws {
        let world = try BackupWorld()
        for name in ["Gewohnheiten für jeden Tag.sqlite", "習慣", "a b'c\"d.store", "👩‍🚀.sqlite"] {
            try world.stores.makeStore("CREATE TABLE t (x)", as: name)
            let archive = try world.make(name, form: form)
            #expect(try BackupArchive(at: archive.url).check().store.name == name)
        }
    }

    @Test("A cancelled backup leaves no files")
    func cancelled() throws {
        let world = try BackupWorld()
        try world.stores.makeStore("CREATE TABLE t (x)")
        let maker = BackupMaker(of: world.stores.location("store.sqlite").url, isCancelled: { true })
        let error = #expect(throws: StoreError.self) { try maker.make(at: world.archives.location("a").url) }
        #expect(error?.code == .cancelled)
        #expect(try world.archives.directory.entries().isEmpty)
    }

    @Test("A request to stop ends a backup at every point, without a file and without a finding")
    func stopped() throws {
        let world = try BackupWorld()
        let store = try world.stores.makeStore("CREATE TABLE t (x)")
        try world.stores.makeStore("CREATE TABLE n (x)", as: store.relayName)
        let external = try world.stores.createExternalFolder(of: store)
        for name in ["A", "B"] { try external.createFile(name, mode: 0o644).close() }
        let place = world.archives.location("a")
        let points = try BackupWorld.stopAtEachPoint { isCancelled in
            #expect(try world.archives.directory.entries().isEmpty)
            let report = try BackupMaker(of: store.url, isCancelled: isCancelled).make(at: place.url)
            #expect(report.findings.isEmpty)
            #expect(report.manifest.members.count == 4)
        }
        #expect(points > 10)
        #expect(try world.archives.directory.entries() == ["a"])
    }

    @Test("Progress counts the bytes of all members, never backwards, up to the total")
    func progress() throws {
        let world = try BackupWorld()
        let store = try world.stores.makeStore("CREATE TABLE t (x)")
        let external = try world.stores.createExternalFolder(of: store)
        for name in ["A", "B"] {
            let file = try external.createFile(name, mode: 0o644)
            try [UInt8](repeating: 7, count: 5 << 20).withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
        }
        let steps = Mutex<[StoreProgress]>([])
        let maker = BackupMaker(of: store.url, onProgress: { step in steps.withLock { $0.append(step) } })
        let manifest = try maker.make(at: world.archives.location("a").url).manifest
        let copied = steps.withLock { $0.filter { $0.phase == .copying } }
        #expect(Set(copied.map(\.total)) == [manifest.byteCount])
        #expect(copied.map(\.done) == copied.map(\.done).sorted())
        // Each report comes before its piece; the store's only piece is the last one.
        let last = try #require(manifest.members.last)
        #expect(copied.last?.done == manifest.byteCount - last.bytes)
        #expect(steps.withLock { $0.last } == StoreProgress(phase: .publishing, done: 1, total: 1))
    }

    @Test("A store that this process has open is not backed up")
    func openHere() throws {
        let world = try BackupWorld()
        try world.stores.makeStore("CREATE TABLE t (x)")
        let connection = try world.stores.open()
        let error = #expect(throws: UnreadableStore.self) { try world.make("store.sqlite") }
        #expect(error?.reason == .openInThisProcess)
        try connection.close()
    }
}
