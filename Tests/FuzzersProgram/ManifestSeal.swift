import FoundationEssentials
import StoreBackup
import StoreFormat
import TestSupport

/// Manifests that were changed and sealed again, so that what they say is believed as far as it can be.
enum ManifestSeal {
    /// The bytes with their seal made right; nil where they are no manifest.
    static func sealed(_ bytes: [UInt8]) -> [UInt8]? {
        try? JSONDecoder().decode(BackupManifest.self, from: Data(bytes)).encoded()
    }

    /// Changes some characters; sealed again where the result can still be read.
    static func changed(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...generator.below(3) {
            // Digits and letters, rather than what holds the text together.
            let places = bytes.indices.filter { bytes[$0] > 0x2D && bytes[$0] != 0x3A && bytes[$0] < 0x7B }
            guard !places.isEmpty else { break }
            Mutation.change(&bytes, at: places[generator.below(places.count)], count: 1 + generator.below(4))
        }
        return sealed(bytes) ?? bytes
    }

    /// A manifest that tells of other bytes of its members, whose lengths are as they were.
    static func telling(of members: [[UInt8]], in bytes: [UInt8]) -> [UInt8]? {
        guard let manifest = try? JSONDecoder().decode(BackupManifest.self, from: Data(bytes)) else { return nil }
        var text = String(decoding: bytes, as: UTF8.self)
        for (member, content) in zip(manifest.members, members) where member.sha256.count == 64 {
            let hash = SHA256.hexadecimal(of: content)
            text = text.replacing(member.sha256, with: hash)
        }
        return sealed(Array(text.utf8))
    }
}
