import SafeFiles
import StoreBackup
import TestSupport

/// A manifest: decoded by itself, and as the first member of an archive, where its names are checked.
final class ManifestTarget: FuzzTarget {
    static let name = "manifest"
    static let mostBytes = 16 << 10
    static let words = [
        "\"formatVersion\"", "\"members\"", "\"store\"", "\"bytes\"", "\"sha256\"", "\"name\"", "\"checksum\"",
        "\"mode\"",
        "\"entities\"", "\"objects\"", "\"history\"", "null", "true", "-1", "1e400", "9223372036854775807", "\\u0000",
        "\\ud800", "../", "/", ".S_SUPPORT/_EXTERNAL_DATA/",
    ]

    init(in folder: Directory) throws {}

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        try ArchiveTarget.seeds(from: source).compactMap { TarBytes.members(of: $0).first?.bytes }
            .filter { $0.first == UInt8(ascii: "{") }
    }

    func run(_ bytes: [UInt8]) throws {
        let manifest = try BackupManifest(decoding: bytes, from: "-")
        guard try manifest.encoded() == bytes else { Fuzzing.fail("a manifest is not written as it was read") }
        _ = (manifest.byteCount, manifest.store.objectCount)
        var rest = TarBytes.archive([.init(name: BackupManifest.memberName, bytes: bytes)])[...]
        let stream = ArchiveSource(stream: "-") { buffer in
            let piece = rest.prefix(buffer.count)
            buffer.copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            return piece.count
        }
        guard try ArchiveUnpacker().manifest(of: stream) == manifest else {
            Fuzzing.fail("a manifest decodes differently in an archive")
        }
    }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? {
        if generator.once(in: 4) { return nil }
        if generator.once(in: 3) {
            let changed = Mutation.changed(bytes, limit: limit)
            return ManifestSeal.sealed(changed) ?? changed
        }
        return ManifestSeal.changed(bytes, using: &generator)
    }
}
