import Foundation
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreBackup

@Suite("Archives with bytes missing or changed", .sampled)
struct DamagedArchiveTests {
    private static let isWhole = ProcessInfo.processInfo.environment["STORE_MIGRATE_SOAK"] == "1"

    /// Every offset of a small archive, or a sample spread over all of it.
    private static func places(_ count: Int) -> [Int] {
        let step = isWhole ? 1 : max(1, count / Tier.sized(40, inVerify: 150))
        return Array(stride(from: Int(Seed.current % UInt64(step)), to: count, by: step))
    }

    @Test("A truncated archive is refused, or still has all its content", arguments: BackupForm.all)
    func truncated(form: BackupForm) throws {
        try expectRefusalOrSame(form) { bytes, place in Array(bytes.prefix(place)) }
    }

    @Test("An archive with a changed byte is refused, or has the same content", arguments: BackupForm.all)
    func flipped(form: BackupForm) throws {
        try expectRefusalOrSame(form) { bytes, place in
            var bytes = bytes
            bytes[place] ^= UInt8(1 << (place % 8))
            return bytes
        }
    }

    private func expectRefusalOrSame(_ form: BackupForm, _ harm: ([UInt8], Int) -> [UInt8]) throws {
        let (world, archive) = try BackupWorld.small(form)
        let bytes = try world.archives.bytes(archive.name)
        let manifest = try BackupArchive(at: archive.url).manifest()
        let digest = try BackupWorld.digest(of: world.stores.location("store.sqlite"))
        let folder = try ScratchFolder()
        var refusals = 0
        for place in Self.places(bytes.count) {
            try folder.write("a", harm(bytes, place))
            do {
                let unpacked = try BackupArchive(at: folder.location("a").url).unpacked(in: folder.path)
                #expect(unpacked.manifest == manifest, "byte \(place)")
                #expect(try BackupWorld.digest(of: unpacked.location) == digest, "byte \(place)")
            } catch is BackupError {
                refusals += 1
            }
            #expect(try folder.directory.entries() == ["a"], "byte \(place)")
            try folder.directory.removeFile("a")
        }
        #expect(refusals > 0)
    }
}
