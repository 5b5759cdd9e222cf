import Foundation
import SafeFiles
import StoreAccess
import StoreFormat
import Synchronization
import TestSupport
import Testing

@testable import StoreBackup

@Suite("A manifest's text")
struct ManifestCodingTests {
    /// A manifest with odd names, and with so many members.
    private func manifest(members count: Int) -> BackupManifest {
        BackupManifest(
            tool: "a \"tool\" of 1/2",
            store: BackupManifest.Store(
                name: "Hàbits \u{1F4C5}\\.sqlite",
                kind: .coreData,
                uuid: "00000000-0000-0000-0000-000000000000",
                model: nil,
                frameworkVersion: 1,
                entities: [.init(name: "A", objects: 1), .init(name: "Ä\"", objects: 0)],
                history: nil,
                digest: "",
                mode: 0o600
            ),
            members: (0..<count).map { .init(name: "\($0)/\"é\\", bytes: Int64($0), sha256: "\($0)") }
        )
    }

    @Test("A manifest written member by member equals one encoded as a whole", arguments: [1, 2, 300])
    func wholeText(count: Int) throws {
        let bytes = try manifest(members: count).encoded()
        let object = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        var whole = manifest(members: count)
        whole.checksum = try #require(object["checksum"] as? String)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        #expect(try Data(bytes) == encoder.encode(whole) + [0x0A])
        #expect(try BackupManifest(decoding: bytes, from: "-") == manifest(members: count))
    }

    @Test("Members are parsed one by one wherever they are formatted as ours", arguments: [1, 2, 300])
    func parts(count: Int) throws {
        let bytes = try manifest(members: count).encoded()
        let whole = try text(bytes)
        #expect(whole.isWhole)
        #expect(whole.members == manifest(members: count).members)
        #expect(whole.frame.count == (try text(manifest(members: 1).encoded()).frame.count))
        for other in [
            #"{"formatVersion":2,"members":[{}]}"#, "  \"members\" : [\n    {\n", "", "\n", "  \"members\" : [\n    {",
        ] {
            #expect(try text(Array(other.utf8)).members.isEmpty)
        }
    }

    /// A text that arrives a byte at a time.
    private func text(_ bytes: [UInt8]) throws -> ManifestText {
        var text = ManifestText(from: "-", ArchiveLimits())
        for byte in bytes { try withUnsafeBytes(of: byte) { try text.add($0) } }
        try text.finish()
        return text
    }

    @Test(
        "Reading a long manifest stops at the next member after a request to stop",
        arguments: [0, 299, 300, 599]
    )
    func cancelled(after members: Int) throws {
        let bytes = try manifest(members: 300).encoded()
        let checks = Mutex(0)
        let monitor = WorkMonitor(isCancelled: {
            checks.withLock { count in
                count += 1
                return count > members
            }
        })
        let error = #expect(throws: StoreError.self) {
            var text = ManifestText(from: "-", ArchiveLimits(), monitor: monitor)
            try bytes.withUnsafeBytes { try text.add($0) }
            _ = try BackupManifest(text, from: "-", ArchiveLimits())
        }
        #expect(error?.code == .cancelled)
        #expect(checks.withLock { $0 } == members + 1)
    }

    @Test("The frame and each member of a manifest are limited separately")
    func limits() throws {
        let bytes = try manifest(members: 3).encoded()
        for change: (inout ArchiveLimits) -> Void in [
            { $0.members = 2 }, { $0.manifestFrameBytes = 100 }, { $0.memberTextBytes = 20 }, { $0.manifestParts = 3 },
        ] {
            var limits = ArchiveLimits()
            change(&limits)
            let error = #expect(throws: BackupError.self) {
                try BackupManifest(decoding: bytes, from: "-", limits)
            }
            #expect(error?.code == .tooLarge)
        }
    }

    @Test("A manifest with one byte more, less or changed is damaged")
    func otherBytes() throws {
        let bytes = try manifest(members: 2).encoded()
        let edits: [[UInt8]] = [bytes + [0x0A], bytes.dropLast(), [0x20] + bytes]
        for edit in edits {
            let error = #expect(throws: BackupError.self) { try BackupManifest(decoding: edit, from: "-") }
            #expect(error?.code == .damaged)
        }
        for place in bytes.indices {
            var other = bytes
            other[place] ^= 1
            #expect(throws: BackupError.self, "byte \(place)") { try BackupManifest(decoding: other, from: "-") }
        }
    }
}
