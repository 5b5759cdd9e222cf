import Crypto
import FoundationEssentials

extension BackupManifest {
    /// What every version of the layout has.
    private struct Version: Decodable {
        let formatVersion: Int
    }

    /// The one way in which this manifest is written.
    package func encoded() throws -> [UInt8] {
        var sealed = self
        sealed.checksum = try seal()
        return try sealed.plain()
    }

    /// Reads what ``encoded()`` wrote; any other spelling of the same is taken for damage.
    package init(decoding bytes: [UInt8], from path: String) throws {
        let data = Data(bytes)
        guard let version = try? JSONDecoder().decode(Version.self, from: data) else {
            throw BackupError(.notABackup, path: path, "its manifest cannot be read")
        }
        guard version.formatVersion <= Self.currentVersion else {
            throw BackupError(
                .newerFormat,
                path: path,
                "it has layout \(version.formatVersion), and this program reads \(Self.currentVersion)"
            )
        }
        guard let manifest = try? JSONDecoder().decode(BackupManifest.self, from: data) else {
            throw BackupError(.damaged, path: path, "its manifest is damaged")
        }
        guard try manifest.checksum == manifest.seal(), try manifest.plain() == bytes else {
            throw BackupError(.damaged, path: path, "its manifest is not as it was written")
        }
        self = manifest
        // It belongs to the bytes; two manifests are equal whether they were written yet or not.
        checksum = ""
    }

    private func seal() throws -> String {
        var blank = self
        blank.checksum = ""
        var hash = FileHash()
        try blank.plain().withUnsafeBytes { hash.add($0) }
        return hash.finish()
    }

    private func plain() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try [UInt8](encoder.encode(self)) + [0x0A]
    }
}
