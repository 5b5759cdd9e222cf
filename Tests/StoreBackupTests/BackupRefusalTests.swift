import Foundation
import Glibc
import SafeFiles
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@testable import StoreBackup

@Suite("What is not a backup, or cannot become one, is reported with the reason")
struct BackupRefusalTests {
    struct Path: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: BackupError.Code
        let message: String
        let make: @Sendable (ScratchFolder) throws -> Void
    }

    static let paths = [
        Path(testDescription: "no file", code: .absent, message: "there is no archive") { _ in },
        Path(
            testDescription: "a symbolic link",
            code: .notABackup,
            message: "this is a symbolic link; give the archive's own path"
        ) { #expect(symlink("other", $0.path + "/a") == 0) },
        Path(
            testDescription: "a FIFO",
            code: .notABackup,
            message: "this is a FIFO; send it to standard input, and name that -"
        ) { #expect(mkfifo($0.path + "/a", 0o600) == 0) },
        Path(testDescription: "a folder", code: .notABackup, message: "it is a folder, not an archive") {
            _ = try $0.directory.createDirectory("a", mode: 0o700)
        },
    ]

    @Test("A path without an archive is reported as such", arguments: paths)
    func path(_ path: Path) throws {
        let folder = try ScratchFolder()
        try path.make(folder)
        let archive = BackupArchive(at: folder.location("a").url)
        let error = #expect(throws: BackupError.self) { try archive.manifest() }
        #expect(error?.code == path.code && error?.message == path.message)
        #expect(!BackupArchive.isArchive(at: archive.url))
    }

    @Test("An archive is recognized by its content, and by its name unless it is a database")
    func recognized() throws {
        let (world, archive) = try BackupWorld.small()
        let folder = try ScratchFolder()
        var other = HandMadeTar()
        other.add("other", [1])
        other.end()
        let archiveBytes = try world.archives.bytes(archive.name)
        let store = try world.stores.bytes("store.sqlite")
        for (name, bytes, isArchive) in [
            ("backup", archiveBytes, true), ("text.tar.gz", Array("text".utf8), true),
            ("text", Array("text".utf8), false),
            ("store.tar.gz", store, false), ("store", store, false), ("other", other.bytes, false),
            ("empty", [], false),
        ] {
            try folder.write(name, bytes)
            #expect(BackupArchive.isArchive(at: folder.location(name).url) == isArchive, "\(name)")
        }
    }

    @Test("A store whose name an archive cannot contain is not backed up")
    func storeName() throws {
        let world = try BackupWorld()
        try world.stores.makeStore("CREATE TABLE t (x)", as: "manifest.json")
        let error = #expect(throws: BackupError.self) { try world.make("manifest.json") }
        #expect(error?.code == .unsuitable)
        #expect(try world.archives.directory.entries().isEmpty)
        for name in ["a", "...", "a.manifest.json", String(repeating: "n", count: 255)] {
            #expect(BackupManifest.canHold(storeName: name), "\(name)")
        }
        for name in ["", ".", "..", "a/b", "a\u{0}b", "manifest.json", String(repeating: "n", count: 256)] {
            #expect(!BackupManifest.canHold(storeName: name), "\(name)")
        }
    }

    @Test("A backup is not made among the external files of a store")
    func amongExternalFiles() throws {
        let world = try BackupWorld()
        let store = try world.stores.makeStore("CREATE TABLE t (x)")
        let external = try world.stores.createExternalFolder(of: store)
        let place = StoreLocation(folder: external.path, name: "a")
        let error = #expect(throws: BackupError.self) { try world.maker(store).make(at: place.url) }
        #expect(error?.code == .unsuitable)
        #expect(try external.entries().isEmpty)
    }

    private func manifest(_ members: [(String, Int64)], mode: UInt32 = 0o644) -> BackupManifest {
        BackupManifest(
            tool: "tests",
            store: BackupManifest.Store(
                name: "s",
                kind: .sqlite,
                uuid: nil,
                model: nil,
                frameworkVersion: nil,
                entities: [],
                history: nil,
                digest: "",
                mode: mode
            ),
            members: members.map { .init(name: $0, bytes: $1, sha256: "") }
        )
    }

    private func refusal(_ manifest: BackupManifest, members: Int = 10) -> String? {
        var limits = ArchiveLimits()
        limits.members = members
        do {
            try manifest.requireSoundNames(limits, path: "", monitor: .silent)
            return nil
        } catch {
            return (error as? BackupError)?.message ?? "\(error)"
        }
    }

    @Test("A list of members is accepted with every file that a store may have, and up to its limits")
    func soundMembers() {
        let external = (0..<2).map { (".s_SUPPORT/_EXTERNAL_DATA/\($0)", Int64(0)) }
        let all = [(".s.relay.sqlite", Int64(1))] + external + [("s", Int64.max - 1)]
        #expect(refusal(manifest(all), members: 4) == nil)
        #expect(refusal(manifest(all), members: 3) == "the archive has more than 3 members")
        #expect(refusal(manifest([("s", 1)], mode: 0o666)) == nil)
    }

    @Test(
        "A wrong list of members is refused with its reason",
        arguments: [
            ([("t", 1)], "the main file is missing"), ([("s", -1)], "a member's size is impossible"),
            ([("s", .max), (".s.relay.sqlite", 1)], "a member's size is impossible"),
            ([("s", 1), ("S", 1)], "two members have the same name"),
            ([("s", 1), ("s-wal", 1)], "a member does not belong to a backup of this store"),
            ([("s", 1), (".s_SUPPORT/_EXTERNAL_DATA/", 1)], "a member does not belong to a backup of this store"),
            ([("s", 1), (".s_SUPPORT/_EXTERNAL_DATA/..", 1)], "a member does not belong to a backup of this store"),
        ] as [([(String, Int64)], String)]
    )
    func unsoundMembers(members: [(String, Int64)], reason: String) {
        #expect(refusal(manifest(members)) == reason)
    }

    @Test("A main file that others could run is refused", arguments: [0o755, 0o4644, 0o1666] as [UInt32])
    func mode(_ mode: UInt32) {
        #expect(refusal(manifest([("s", 1)], mode: mode)) == "the store's mode is impossible")
    }

    @Test("The limits of an archive are exact, and do not overflow")
    func arithmetic() {
        let limits = ArchiveLimits()
        #expect(limits.mostBytes(from: 10) == 2000 + 64 << 20)
        #expect(limits.mostBytes(from: .max) == .max)
        #expect(limits.mostBytes(from: .max / 200) == .max)
        #expect(limits.mostInput(for: 64, members: 2) == 64 + 1 + 1 << 20 + 8192)
        #expect(limits.mostInput(for: .max) == .max)
        #expect(limits.mostInput(for: 0, members: .max) == .max)
        #expect(limits.mostInput(for: .max / 2, members: .max / 8192) == .max)
    }
}
