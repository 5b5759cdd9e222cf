import Foundation
import SafeFiles
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@testable import StoreBackup

@Suite("Untrusted archives")
struct HostileArchiveTests {
    private static let main = "store.sqlite"

    @Test("A hostile archive is refused and leaves no files", arguments: Attack.all)
    func refused(attack: Attack) throws {
        try expectRefusal(attack.archive())
    }

    @Test("The archive that the attacks modify is accepted")
    func baseline() throws {
        let folder = try ScratchFolder()
        try folder.write("a.tar", Attack.none.archive())
        #expect(try BackupArchive(at: folder.location("a.tar").url).check().store.name == Self.main)
    }

    @Test(
        "A manifest that lists what no backup contains is refused",
        arguments: [
            "../up.sqlite", "/abs.sqlite", "", ".", "..", "a/b", "manifest.json", "a\u{0}b",
            String(repeating: "n", count: 256),
        ]
    )
    func storeName(name: String) throws {
        try expectRefusal(Self.archive(storeNamed: name, members: [(name, 1)]))
    }

    @Test(
        "A manifest with members that do not belong to a store is refused",
        arguments: [
            [("s", Int64(1)), ("s-wal", 1)], [("s", 1), ("s-shm", 1)], [("s", 1), ("S", 1)], [("s", 1), ("s", 1)],
            [("s", 1), (".s_SUPPORT/_EXTERNAL_DATA/../../../x", 1)], [("s", 1), (".s_SUPPORT/_EXTERNAL_DATA/a/b", 1)],
            [("s", 1), (".s_SUPPORT/_EXTERNAL_DATA/..", 1)], [("s", 1), (".s_SUPPORT/x", 1)], [("s", 1), ("other", 1)],
            [("s", 1), (".s_SUPPORT/_EXTERNAL_DATA/e\u{301}", 1), (".s_SUPPORT/_EXTERNAL_DATA/\u{E9}", 1)],
            [("s", 1), (".s_SUPPORT/_EXTERNAL_DATA/A", 1), (".s_SUPPORT/_EXTERNAL_DATA/a", 1)],
            [("s", -1)], [("s", .max), (".s.relay.sqlite", .max)], [("s", .max)], [("s", 1 << 40)], [],
        ]
    )
    func memberNames(members: [(String, Int64)]) throws {
        try expectRefusal(Self.archive(storeNamed: "s", members: members))
    }

    @Test("A file that is not a backup archive is refused as such")
    func foreignFormats() throws {
        let random = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        for start in [
            Array("Rar!\u{1A}\u{7}\u{1}\u{0}".utf8), [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], Array("!<arch>\n".utf8),
            [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], Array("BZh9".utf8), Array("070701".utf8),
            Array("SQLite format 3\0".utf8),
            [0x28, 0xB5, 0x2F, 0xFD], [0x1F, 0x8B, 0x08, 0x00], [0x50, 0x4B, 0x03, 0x04], [],
        ] as [[UInt8]] {
            try expectRefusal(start + random)
        }
    }

    @Test("An archive that is compressed twice is refused", arguments: ["gzip", "zstd"])
    func nested(outer: String) throws {
        let folder = try ScratchFolder()
        try folder.write("a.tar", Attack.none.archive())
        let command = "cd '\(folder.path)' && gzip -c a.tar | \(outer) -c > twice"
        #expect(try Program("sh", ["-c", command]).status == 0)
        try expectRefusal(try folder.bytes("twice"))
    }

    @Test("A decompression bomb is refused before it is unpacked")
    func bomb() throws {
        let folder = try ScratchFolder()
        let size: Int64 = 1 << 29
        try folder.write("head", Self.archive(storeNamed: "s", members: [("s", size)], withContent: false))
        // Half a gigabyte of zeroes in a few kilobytes.
        var header = HandMadeTar()
        header.add("s", size: size)
        try folder.write("header", header.bytes)
        let command =
            "cd '\(folder.path)' && { cat head header; head -c \(size + 1024) /dev/zero; } | zstd -q -o bomb.tar.zst"
        #expect(try Program("sh", ["-c", command]).status == 0)
        let bytes = try folder.bytes("bomb.tar.zst")
        #expect(bytes.count < 1 << 20)
        try expectRefusal(bytes, .tooLarge)
    }

    @Test("An endless stream is read no further than its members need", arguments: [0, 1])
    func endless(kind: Int) throws {
        let (world, archive) = try BackupWorld.small(try #require(BackupForm(.pax, BackupForm.Compression.none)))
        // Empty zstd frames, repeated; or an archive whose main file never ends.
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x00, 0x01, 0x00, 0x00]
        let start = kind == 0 ? frame : Array(try world.archives.bytes(archive.name).prefix(2048))
        var handedOut: Int64 = 0
        let source = ArchiveSource(stream: "-") { buffer in
            let pattern = kind == 0 ? frame : [0x41]
            for index in 0..<buffer.count {
                let place = Int(handedOut) + index
                buffer[index] = place < start.count ? start[place] : pattern[place % pattern.count]
            }
            handedOut += Int64(buffer.count)
            return buffer.count
        }
        #expect(throws: BackupError.self) { try UnpackedBackup(source) }
        #expect(handedOut < 200 << 20)
    }

    @Test("An archive whose store does not match its manifest is refused")
    func otherContent() throws {
        let (world, archive) = try BackupWorld.small()
        let honest = try BackupArchive(at: archive.url).manifest()
        let main = try world.members(of: archive)[1].bytes
        let lie = BackupManifest(
            tool: honest.tool,
            store: BackupManifest.Store(
                name: honest.store.name,
                kind: .sqlite,
                uuid: nil,
                model: nil,
                frameworkVersion: nil,
                entities: honest.store.entities,
                history: nil,
                digest: String(repeating: "0", count: 64),
                mode: 0o644
            ),
            members: honest.members
        )
        var tar = HandMadeTar()
        tar.whole(Attack.Right(manifest: try lie.encoded(), main: main))
        tar.end()
        try expectRefusal(tar.bytes, .refused)
    }

    @Test("A newer layout is reported as newer")
    func newerFormat() throws {
        var tar = HandMadeTar()
        tar.add("manifest.json", Array(#"{"formatVersion":2,"anything":[]}"#.utf8))
        tar.end()
        try expectRefusal(tar.bytes, .newerFormat)
    }

    // MARK: Parts

    /// An archive with these members, whose manifest lists them.
    static func archive(
        storeNamed name: String,
        members: [(String, Int64)],
        withContent: Bool = true
    ) throws -> [UInt8] {
        let manifest = BackupManifest(
            tool: "hand",
            store: BackupManifest.Store(
                name: name,
                kind: .sqlite,
                uuid: nil,
                model: nil,
                frameworkVersion: nil,
                entities: [],
                history: nil,
                digest: "",
                mode: 0o600
            ),
            members: members.map { .init(name: $0, bytes: $1, sha256: String(repeating: "0", count: 64)) }
        )
        var tar = HandMadeTar()
        tar.good(Attack.Right(manifest: try manifest.encoded(), main: []))
        guard withContent else { return tar.bytes }
        for (name, _) in members { tar.add(name, [1]) }
        tar.end()
        return tar.bytes
    }

    private func expectRefusal(_ bytes: [UInt8], _ code: BackupError.Code? = nil) throws {
        let folder = try ScratchFolder()
        try folder.write("archive", bytes)
        let place = try folder.directory.createDirectory("place", mode: 0o700)
        let before = try folder.everything()
        let error = #expect(throws: BackupError.self) {
            try BackupArchive(at: folder.location("archive").url).unpacked(in: place.path)
        }
        if let code { #expect(error?.code == code) }
        let message = error?.description ?? ""
        #expect(message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
        #expect(try place.entries().isEmpty)
        #expect(try folder.everything().keys.sorted() == before.keys.sorted())
    }
}
