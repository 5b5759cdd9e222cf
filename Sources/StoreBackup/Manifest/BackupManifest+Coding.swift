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
    package init(decoding bytes: [UInt8], from path: String, _ limits: ArchiveLimits = ArchiveLimits()) throws {
        // Each part of a text takes many times its bytes to be taken apart.
        guard Self.parts(of: bytes) <= limits.manifestParts else {
            throw BackupError(.tooLarge, path: path, "its manifest has more parts than any may have")
        }
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

    /// The number of values, names and brackets in a text of JSON, or of more than that.
    private static func parts(of bytes: [UInt8]) -> Int {
        var parts = 0
        var isInText = false
        var isEscaped = false
        for byte in bytes {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\""):
                isInText.toggle()
                parts += 1
            case UInt8(ascii: "\\"): isEscaped = isInText
            case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "{"):
                if !isInText { parts += 1 }
            default: break
            }
        }
        return parts
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
