import FoundationEssentials
import StoreFormat

extension BackupManifest {
    /// What every version of the layout has.
    private struct Version: Decodable {
        let formatVersion: Int
    }

    /// The one way in which this manifest is written.
    package func encoded() throws -> [UInt8] {
        let checksum = try seal()
        var count = 0
        try write(sealedBy: checksum) { count += $0.count }
        var bytes: [UInt8] = []
        // An array that grows holds twice what it needs.
        bytes.reserveCapacity(count)
        try write(sealedBy: checksum) { bytes += $0 }
        return bytes
    }

    /// Reads what ``encoded()`` wrote; any other spelling of the same is taken for damage.
    package init(decoding bytes: [UInt8], from path: String, _ limits: ArchiveLimits = ArchiveLimits()) throws {
        // Each part of a text takes many times its bytes to be taken apart.
        guard Self.parts(of: bytes) <= limits.manifestParts else {
            throw BackupError(.tooLarge, path: path, "its manifest has more parts than any may have")
        }
        let decoder = JSONDecoder()
        let text = ManifestText(bytes)
        guard let version = try? decoder.decode(Version.self, from: Data(text.frame)) else {
            throw BackupError(.notABackup, path: path, "its manifest cannot be read")
        }
        guard version.formatVersion <= Self.currentVersion else {
            throw BackupError(
                .newerFormat,
                path: path,
                "it has layout \(version.formatVersion), and this program reads \(Self.currentVersion)"
            )
        }
        guard var manifest = try? decoder.decode(BackupManifest.self, from: Data(text.frame)) else {
            throw BackupError(.damaged, path: path, "its manifest is damaged")
        }
        manifest.members.reserveCapacity(text.members.count)
        for place in text.members {
            guard let member = try? decoder.decode(Member.self, from: Data(bytes[place])) else {
                throw BackupError(.damaged, path: path, "its manifest is damaged")
            }
            manifest.members.append(member)
        }
        guard try manifest.checksum == manifest.seal(), try manifest.isWritten(as: bytes) else {
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
        var hash = SHA256()
        try write(sealedBy: "") { hash.update($0) }
        return hash.hexadecimal
    }

    private func isWritten(as bytes: [UInt8]) throws -> Bool {
        var rest = bytes[...]
        var isSame = true
        try write(sealedBy: checksum) { piece in
            isSame = isSame && rest.starts(with: piece)
            rest = rest.dropFirst(piece.count)
        }
        return isSame && rest.isEmpty
    }

    /// Writes it piece by piece, and a member at a time: taken apart as a whole, a long one takes many times its bytes.
    private func write(sealedBy checksum: String, _ sink: ([UInt8]) -> Void) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        func put(_ start: String, _ value: some Encodable, indentedBy spaces: Int) throws {
            var piece = Array(start.utf8)
            // No text of JSON holds a line's end but between its parts.
            for byte in try encoder.encode(value) {
                piece.append(byte)
                if byte == 0x0A { piece.append(contentsOf: repeatElement(0x20, count: spaces)) }
            }
            sink(piece)
        }
        try put("{\n  \"checksum\" : ", checksum, indentedBy: 2)
        try put(",\n  \"formatVersion\" : ", formatVersion, indentedBy: 2)
        var start = ",\n  \"members\" : [\n    "
        for member in members {
            try put(start, member, indentedBy: 4)
            start = ",\n    "
        }
        try put("\n  ],\n  \"store\" : ", store, indentedBy: 2)
        try put(",\n  \"tool\" : ", tool, indentedBy: 2)
        sink(Array("\n}\n".utf8))
    }
}
