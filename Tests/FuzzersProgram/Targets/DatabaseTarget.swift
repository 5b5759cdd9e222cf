import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification
import TestSupport

/// An untrusted main file: inspected to the last row, and verified.
final class DatabaseTarget: FuzzTarget {
    static let name = "database"
    static let mostBytes = 56 << 10
    static let words = [
        "CREATE TABLE", "CREATE INDEX", "CREATE UNIQUE INDEX", "CREATE TRIGGER", "CREATE VIEW", "CREATE VIRTUAL TABLE",
        "USING fts5(", "USING rtree(", "WITHOUT ROWID", "PRIMARY KEY", "GENERATED ALWAYS AS (", "COLLATE NOCASE",
        "WHERE",
        "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY", "Z_PK", "Z_ENT", "Z_OPT", "ATRANSACTION", "ACHANGE",
        "sqlite_sequence", "sqlite_stat1", "'", "\"", "/*", "--", "SQLite format 3\u{0}",
    ]

    private let folder: Directory
    private let location: StoreLocation

    init(in folder: Directory) throws {
        self.folder = folder
        location = StoreLocation(folder: folder.path, name: "S.sqlite")
    }

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        try source.storeFiles().filter { $0.bytes.starts(with: "SQLite format 3".utf8) }.map(\.bytes)
    }

    func run(_ bytes: [UInt8]) throws {
        defer { folder.removeContents() }
        try folder.put(bytes, location.name)
        try location.examine()
    }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? {
        PageChanges.changed(bytes, using: &generator)
    }
}

extension Directory {
    /// Writes a new file.
    func put(_ bytes: [UInt8], _ name: String) throws {
        let file = try createFile(name, mode: 0o644)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
    }
}

extension StoreLocation {
    /// Runs all read-only operations on a store; returns its content digest, if it can be read.
    @discardableResult
    func examine() throws -> StoreDigest? {
        var digest: StoreDigest?
        if case .store(let inspection) = try StoreInspector(depth: .digest, lockTimeout: .zero).inspect(self) {
            digest = inspection.digest
        }
        _ = try StoreVerifier(lockTimeout: .zero).verify(self, level: .coredata)
        return digest
    }
}
