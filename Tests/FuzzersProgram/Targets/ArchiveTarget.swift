import SafeFiles
import StoreAccess
import StoreBackup
import StoreFixtures
import TestSupport

/// An untrusted archive: unpacked into a scratch folder and checked, from a file and from a stream.
final class ArchiveTarget: FuzzTarget {
    static let name = "archive"
    static let mostBytes = 96 << 10
    static let words = [
        "ustar\u{0}00", "ustar  \u{0}", "PaxHeader", "path=", "size=", "linkpath=", "GNU.sparse.map=",
        "GNU.sparse.size=",
        "SCHILY.", "LIBARCHIVE.", "mtime=", "hdrcharset=", "manifest.json", "S.sqlite", ".S_SUPPORT/_EXTERNAL_DATA/",
        ".S.sqlite.relay.sqlite", "../", "PK\u{3}\u{4}", "PK\u{1}\u{2}", "PK\u{5}\u{6}", "PK\u{6}\u{6}",
    ]

    private let folder: Directory
    private let scratch: Directory

    init(in folder: Directory) throws {
        self.folder = try folder.createDirectory("archive", mode: 0o700)
        scratch = try folder.createDirectory("scratch", mode: 0o700)
    }

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        let stores = try source.recipes().filter { ["clean", "external-data", "plain-sqlite"].contains($0.name) }
        for (_, text) in stores {
            let place = try source.scratch.createDirectory("store", mode: 0o700)
            let location = StoreLocation(folder: place.path, name: "S.sqlite")
            try RecipeBuilder.build(RecipeReader.recipe(from: text), at: location)
            for form in BackupForm.all {
                var options = BackupOptions()
                options.form = form
                try BackupMaker(of: location, options: options)
                    .make(at: StoreLocation(folder: place.path, name: "A").url)
                seeds.append(try place.contents(of: "A", limit: 1 << 20))
                try place.removeFile("A")
            }
            source.scratch.removeContents()
        }
        return seeds
    }

    func run(_ bytes: [UInt8]) throws {
        defer {
            folder.removeContents()
            scratch.removeContents()
        }
        try folder.put(bytes, "A")
        let first = Result { try UnpackedBackup(ArchiveSource(folder.openFile("A", for: .reading)), in: scratch.path) }
        var rest = bytes[...]
        let stream = ArchiveSource(stream: "-") { buffer in
            let piece = rest.prefix(buffer.count)
            buffer.copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            return piece.count
        }
        let second = Result { try UnpackedBackup(stream, in: scratch.path) }
        guard try folder.entries() == ["A"], try folder.contents(of: "A", limit: 1 << 20) == bytes else {
            Fuzzing.fail("the archive's folder is not as it was")
        }
        // A stream has the same result as a file, except for layouts that cannot be read from one.
        if let both = try? (first.get().manifest, second.get().manifest), both.0 != both.1 {
            Fuzzing.fail("a stream has another content than the file")
        }
        // A file and a stream may be refused for different reasons, but each with a documented error.
        if case .failure(let error) = second, !(error is any FuzzedRefusal) { throw error }
        _ = try first.get()
    }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? {
        var bytes = bytes
        switch generator.below(8) {
        case 0, 1, 2:
            TarBytes.changeHeader(&bytes, using: &generator)
            return bytes
        case 3, 4:
            // An unsound store under a manifest with matching digests.
            var members = TarBytes.members(of: bytes)
            guard members.count > 1 else { return nil }
            let index = 1 + generator.below(members.count - 1)
            PageChanges.change(&members[index].bytes, PageChanges.pageSize(of: members[index].bytes), &generator)
            guard let sealed = ManifestSeal.telling(of: members.dropFirst().map(\.bytes), in: members[0].bytes) else {
                return nil
            }
            members[0].bytes = sealed
            return TarBytes.archive(members)
        case 5:
            var members = TarBytes.members(of: bytes)
            guard let first = members.first else { return nil }
            members[0].bytes = ManifestSeal.changed(first.bytes, using: &generator)
            return TarBytes.archive(members)
        default: return nil
        }
    }
}
