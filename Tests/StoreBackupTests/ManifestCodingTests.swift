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
    private func manifest(members count: Int, entities: [String] = ["A", "Ä\""]) -> BackupManifest {
        BackupManifest(
            tool: "a \"tool\" of 1/2",
            store: BackupManifest.Store(
                name: "Hàbits \u{1F4C5}\\.sqlite",
                kind: .coreData,
                uuid: "00000000-0000-0000-0000-000000000000",
                model: nil,
                frameworkVersion: 1,
                entities: entities.map { .init(name: $0, objects: 1) },
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

    private func code(_ bytes: [UInt8], parts: Int) -> BackupError.Code? {
        var limits = ArchiveLimits()
        limits.manifestParts = parts
        do {
            _ = try BackupManifest(decoding: bytes, from: "-", limits)
            return nil
        } catch {
            return (error as? BackupError)?.code
        }
    }

    @Test("An escaped quote neither ends a text nor hides the parts after it")
    func escapedQuotes() throws {
        let names = ["\"A"] + (1...100).map { "B\($0)" }
        #expect(try code(manifest(members: 1, entities: names).encoded(), parts: 200) == .tooLarge)
        let punctuation = "\"" + String(repeating: ",", count: 1_000)
        #expect(try code(manifest(members: 1, entities: [punctuation]).encoded(), parts: 200) == nil)
    }

    @Test("A manifest of exactly as many parts as the limit is read")
    func greatestManifest() throws {
        var manifest = manifest(members: 1, entities: ["A"])
        manifest = BackupManifest(tool: "tool", store: manifest.store, members: manifest.members)
        let bytes = try manifest.encoded()
        let frame = try String(decoding: text(bytes).frame, as: UTF8.self)
        let pieces = frame.split(separator: "\"", omittingEmptySubsequences: false)
        let outside = stride(from: 0, to: pieces.count, by: 2).map { pieces[$0] }.joined()
        let parts = pieces.count - 1 + outside.count { ",:[{".contains($0) }
        #expect(code(bytes, parts: parts) == nil)
        #expect(code(bytes, parts: parts - 1) == .tooLarge)
    }

    @Test("A member that cannot be decoded is damage")
    func unreadableMember() throws {
        let bytes = try manifest(members: 2).encoded()
        let other = String(decoding: bytes, as: UTF8.self).replacing("\"bytes\" : 1,", with: "\"bytes\" : true,")
        #expect(try text(bytes).isWhole && !text(Array(other.utf8)).isWhole)
        let error = #expect(throws: BackupError.self) { try BackupManifest(decoding: Array(other.utf8), from: "-") }
        #expect(error?.code == .damaged && error?.message == "its manifest is damaged")
    }

    @Test("A manifest of exactly as many members as the limit is read")
    func mostMembers() throws {
        var limits = ArchiveLimits()
        limits.members = 3
        let manifest = manifest(members: 3)
        #expect(try BackupManifest(decoding: manifest.encoded(), from: "-", limits) == manifest)
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
