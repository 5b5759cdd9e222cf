import SafeFiles
package import StoreAccess
import StoreFormat

/// The write-ahead log belongs to the main file: with and without it the store has the same UUID.
///
/// SQLite silently replays a log that another store left behind, and the store then has that store's content. After
/// SQLite's online backup replaced all content, a log with another UUID is legitimate. Its schema number shows that: the
/// backup increments it (`sqlite3_backup_step`), so that connections read the schema again. Later transactions in the same
/// log may change the schema again, so every first page in the log counts.
struct ForeignWriteAheadLogRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        let location = store.location
        guard let log = try? Directory.open(path: location.folder).status(of: location.writeAheadLogName), log.size > 0,
            let main = mainFile(at: location), main.uuid != store.metadata.uuid,
            try !Self.schemaNumbers(inLogOf: location).contains(UInt32(truncatingIfNeeded: main.schema + 1))
        else { return }
        findings.report(
            .foreignWriteAheadLog,
            .error,
            "the write-ahead log belongs to another store and would replace this one",
            path: StoreLocation(folder: location.folder, name: location.writeAheadLogName).path
        )
    }

    /// The schema numbers in the first pages in the log.
    ///
    /// Source: "WAL-mode File Format", sections 1 and 2, of SQLite's documentation, and section 1.3 of its file format.
    private static func schemaNumbers(inLogOf location: StoreLocation) throws -> Set<UInt32> {
        let (headerSize, frameHeaderSize, schemaOffset) = (32, 24, 40)
        let log = try Directory.open(path: location.folder).openFile(location.writeAheadLogName, for: .reading)
        guard let header = try log.words(headerSize / 4, at: 0), header[2] > 0 else { return [] }
        var numbers: Set<UInt32> = []
        var offset = Int64(headerSize)
        while let frame = try log.words(frameHeaderSize / 4, at: offset), frame[2...3] == header[4...5] {
            if frame[0] == 1, let schema = try log.words(1, at: offset + Int64(frameHeaderSize + schemaOffset)) {
                numbers.insert(schema[0])
            }
            offset += Int64(frameHeaderSize) + Int64(header[2])
        }
        return numbers
    }

    /// The UUID and schema number of the main file without its log; nil where that is not a Core Data store, for example
    /// because everything is in the log.
    private func mainFile(at location: StoreLocation) -> (uuid: String, schema: Int64)? {
        guard let connection = try? StoreConnection(location, access: .immutable) else { return nil }
        defer { try? connection.close() }
        let query = "SELECT Z_UUID FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1"
        guard let uuid = (try? connection.value(query))??.text,
            let schema = (try? connection.value("PRAGMA schema_version"))??.integer
        else { return nil }
        return (uuid, schema)
    }
}

extension DurableFile {
    /// `count` big-endian words at `offset`; nil where the file ends before.
    fileprivate func words(_ count: Int, at offset: Int64) throws -> [UInt32]? {
        try withUnsafeTemporaryAllocation(byteCount: count * 4, alignment: 4) { buffer in
            guard try read(into: buffer, at: offset) == buffer.count else { return nil }
            return buffer.bindMemory(to: UInt32.self).map { UInt32(bigEndian: $0) }
        }
    }
}

extension Finding.Code {
    /// The write-ahead log beside the store belongs to another store.
    package static let foreignWriteAheadLog = Self(rawValue: "foreignWriteAheadLog")
}
