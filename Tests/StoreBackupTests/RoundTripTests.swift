import Foundation
import SafeFiles
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@testable import StoreBackup

@Suite("Backups of genuine stores", .genuineStores)
struct RoundTripTests {
    /// Every store in the standard form, and each in one of the others; in all forms with STORE_MIGRATE_SOAK.
    static let cases: [(String, BackupForm)] = Corpus.stores.enumerated()
        .flatMap { index, store in
            let isWhole = ProcessInfo.processInfo.environment["STORE_MIGRATE_SOAK"] == "1"
            let others = BackupForm.all.filter { $0 != .standard }
            return [(store, BackupForm.standard)]
                + (isWhole ? others.map { (store, $0) } : [(store, others[index % others.count])])
        }

    @Test("An unpacked store equals its original, and the same store gives the same bytes", arguments: cases)
    func roundTrip(store: String, form: BackupForm) throws {
        let world = try BackupWorld()
        let location = try Corpus.copy(store, into: world.stores)
        let condition = try StoreInspector(depth: .digest).inspect(location)
        guard let inspection = condition.inspection else {
            // A file that is not a readable store cannot be backed up, and leaves no files.
            #expect(throws: (any Error).self) { try world.make(location.name, form: form) }
            #expect(try world.archives.directory.entries().isEmpty)
            return
        }
        let before = try world.stores.everything()

        let first = try world.make(location.name, form: form, as: "first" + form.fileNameEnd)
        let second = try world.make(location.name, form: form, as: "second" + form.fileNameEnd)

        #expect(try world.stores.everything() == before)
        #expect(try world.archives.bytes(first.name) == world.archives.bytes(second.name))
        #expect(try world.archives.directory.entries() == [first.name, second.name])
        let unpacked = try BackupArchive(at: first.url).unpacked()
        #expect(try BackupWorld.digest(of: unpacked.location) == inspection.digest?.value)
        #expect(unpacked.manifest.store.digest == inspection.digest?.value)
        #expect(unpacked.manifest.store.objectCount == inspection.objectCount)
        #expect(unpacked.manifest.store.uuid == inspection.uuid)
        let files = try ExternalData.open(of: location, in: world.stores.directory)?.entries() ?? []
        #expect(unpacked.manifest.members.count == files.count + 1)
    }

    @Test(
        "Other programs read the archive",
        .genuineStores("objcio-moody-2", "wibosco-wal"),
        arguments: BackupForm.all,
        ["objcio-moody-2", "wibosco-wal"]
    )
    func foreignReaders(form: BackupForm, folder: String) throws {
        let store = try #require(Corpus.store(in: folder))
        let world = try BackupWorld()
        let location = try Corpus.copy(store, into: world.stores)
        let archive = try world.make(location.name, form: form)
        let names = try world.members(of: archive).map(\.name)
        let place = try ScratchFolder()

        let bsdtar = try Program("bsdtar", ["-tf", archive.path])
        #expect(bsdtar.status == 0 && bsdtar.lines == names)
        if form.format == .zip {
            let list = try Program("unzip", ["-Z1", archive.path])
            #expect(list.status == 0 && list.lines == names)
            #expect(try Program("unzip", ["-q", archive.path, "-d", place.path]).status == 0)
        } else {
            let list = try Program("tar", ["-tf", archive.path])
            #expect(list.status == 0 && list.lines == names, "\(list.output)")
            #expect(try Program("tar", ["-xf", archive.path, "-C", place.path]).status == 0)
        }
        let check = try Program("sqlite3", [place.path + "/" + location.name, "PRAGMA integrity_check"])
        #expect(check.lines == ["ok"])
        let manifest = String(decoding: try place.bytes(BackupManifest.memberName), as: UTF8.self)
        #expect(names.first == BackupManifest.memberName && manifest.contains("\"formatVersion\" : 1"))
        #expect(!manifest.contains(world.stores.path))
        #expect(try BackupWorld.digest(of: place.location(location.name)) == BackupWorld.digest(of: location))
    }
}
