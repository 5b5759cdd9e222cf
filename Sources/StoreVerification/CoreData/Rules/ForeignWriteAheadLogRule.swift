import SafeFiles
package import StoreFormat

/// The write-ahead log belongs to the main file: with and without it the store has the same UUID.
///
/// SQLite replays a log that another store left behind without a word, and then is that other store. Where all content was
/// replaced by SQLite's online backup, the log is another store's rightly, and tells it by the schema's number: the
/// backup makes that one more than it was (`sqlite3_backup_step`, so that others read the schema anew).
struct ForeignWriteAheadLogRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        let location = store.location
        guard let log = try? Directory.open(path: location.folder).status(of: location.writeAheadLogName), log.size > 0,
            let main = mainFile(at: location), main.uuid != store.metadata.uuid,
            try store.connection.value("PRAGMA schema_version")?.integer != main.schema + 1
        else { return }
        findings.report(
            .foreignWriteAheadLog,
            .error,
            "the write-ahead log belongs to another store and would replace this one",
            path: StoreLocation(folder: location.folder, name: location.writeAheadLogName).path
        )
    }

    /// What the main file says without the log; nil where it is no Core Data store, as when everything is in the log.
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

extension Finding.Code {
    /// The write-ahead log beside the store is another store's.
    package static let foreignWriteAheadLog = Self(rawValue: "foreignWriteAheadLog")
}
