import FoundationEssentials
import StoreAccess
import StoreBackup
import TestSupport

/// Changed manifests with a corrected checksum, so that their content is parsed.
enum ManifestSeal {
    /// The bytes with a corrected checksum; nil where they are not a manifest.
    static func sealed(_ bytes: [UInt8]) -> [UInt8]? {
        try? JSONDecoder().decode(BackupManifest.self, from: Data(bytes)).encoded()
    }

    /// Changes some characters, and corrects the checksum where the result can still be parsed.
    static func changed(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...generator.below(3) {
            // Digits and letters, not JSON's punctuation.
            let places = bytes.indices.filter { bytes[$0] > 0x2D && bytes[$0] != 0x3A && bytes[$0] < 0x7B }
            guard !places.isEmpty else { break }
            Mutation.change(&bytes, at: places[generator.below(places.count)], count: 1 + generator.below(4))
        }
        return sealed(bytes) ?? bytes
    }

    /// A manifest with the digests of changed members of the same lengths.
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
