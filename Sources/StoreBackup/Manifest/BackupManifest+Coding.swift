import FoundationEssentials
import StoreFormat

extension BackupManifest {
    /// What every version of the layout has.
    private struct Version: Decodable {
        let formatVersion: Int
    }

    /// The one way in which this manifest is written.
    package func encoded() throws -> [UInt8] {
        let (checksum, count) = try sealed()
        var bytes: [UInt8] = []
        // An array that grows holds twice what it needs.
        bytes.reserveCapacity(count)
        try write(sealedBy: checksum) { bytes += $0 }
        return bytes
    }

    /// Reads what ``encoded()`` wrote; any other spelling of the same content counts as damage.
    package init(decoding bytes: [UInt8], from path: String, _ limits: ArchiveLimits = ArchiveLimits()) throws {
        var text = ManifestText(from: path, limits)
        try bytes.withUnsafeBytes { try text.add($0) }
        try self.init(text, from: path, limits)
    }

    /// Reads a text that was parsed as it arrived.
    init(_ text: consuming ManifestText, from path: String, _ limits: ArchiveLimits) throws {
        try text.finish()
        // Parsing takes many times the bytes of each part.
        guard Self.parts(of: text.frame) <= limits.manifestParts else {
            throw BackupError(.tooLarge, path: path, "its manifest has more than \(limits.manifestParts) parts")
        }
        let decoder = JSONDecoder()
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
        guard text.isWhole, var manifest = try? decoder.decode(BackupManifest.self, from: Data(text.frame)),
            manifest.members.isEmpty || text.members.isEmpty
        else { throw BackupError(.damaged, path: path, "its manifest is damaged") }
        if manifest.members.isEmpty { manifest.members = text.members }
        guard try manifest.isWritten(as: text.hash.hexadecimal, text.monitor) else {
            throw BackupError(.damaged, path: path, "its manifest was changed after it was written")
        }
        self = manifest
        // The checksum belongs to the bytes: a manifest equals its copy that was not written yet.
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

    /// The checksum that it is written with, and the number of the bytes.
    func sealed(_ monitor: WorkMonitor = .silent) throws -> (checksum: String, bytes: Int) {
        var hash = SHA256()
        var count = 0
        try write(sealedBy: "", monitor) { piece in
            hash.update(piece)
            count += piece.count
        }
        let checksum = hash.hexadecimal
        return (checksum, count + checksum.utf8.count)
    }

    /// True if the checksum is right, and the digest is that of the text that would be written.
    private func isWritten(as textHash: String, _ monitor: WorkMonitor) throws -> Bool {
        var seal = SHA256()
        var text = SHA256()
        seal.update(try piece("", start: Self.start))
        text.update(try piece(checksum, start: Self.start))
        try writeRest(monitor) {
            seal.update($0)
            text.update($0)
        }
        return seal.hexadecimal == checksum && text.hexadecimal == textHash
    }

    private static let start = "{\n  \"checksum\" : "

    /// Writes it piece by piece, and a member at a time: encoding a long manifest as a whole takes many times its bytes.
    func write(
        sealedBy checksum: String,
        _ monitor: WorkMonitor = .silent,
        _ sink: ([UInt8]) throws -> Void
    ) throws {
        try sink(piece(checksum, start: Self.start))
        try writeRest(monitor, sink)
    }

    private func writeRest(_ monitor: WorkMonitor, _ sink: ([UInt8]) throws -> Void) throws {
        let encoder = Self.encoder
        try sink(piece(formatVersion, start: ",\n  \"formatVersion\" : ", encoder))
        var start = ",\n  \"members\" : [\n    "
        for member in members {
            try monitor.checkCancellation()
            try sink(piece(member, start: start, indentedBy: 4, encoder))
            start = ",\n    "
        }
        try sink(piece(store, start: "\n  ],\n  \"store\" : ", encoder))
        try sink(piece(tool, start: ",\n  \"tool\" : ", encoder))
        try sink(Array("\n}\n".utf8))
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return encoder
    }

    private func piece(
        _ value: some Encodable,
        start: String,
        indentedBy spaces: Int = 2,
        _ encoder: JSONEncoder = Self.encoder
    ) throws -> [UInt8] {
        var piece = Array(start.utf8)
        // JSON contains line breaks only between its parts.
        for byte in try encoder.encode(value) {
            piece.append(byte)
            if byte == 0x0A { piece.append(contentsOf: repeatElement(0x20, count: spaces)) }
        }
        return piece
    }
}
