import SafeFiles
package import StoreFormat

/// The write-ahead log belongs to the main file: with and without it the store has the same UUID.
///
/// SQLite replays a log that another store left behind without a word, and then is that other store.
struct ForeignWriteAheadLogRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        let location = store.location
        guard let log = try? Directory.open(path: location.folder).status(of: location.writeAheadLogName), log.size > 0,
            let uuid = uuidWithoutLog(at: location), uuid != store.metadata.uuid
        else { return }
        findings.report(
            .foreignWriteAheadLog,
            .error,
            "the write-ahead log belongs to another store and would replace this one",
            path: StoreLocation(folder: location.folder, name: location.writeAheadLogName).path
        )
    }

    /// Nil where the main file alone is no Core Data store, as when everything is still in the log.
    private func uuidWithoutLog(at location: StoreLocation) -> String? {
        guard let connection = try? StoreConnection(location, access: .immutable) else { return nil }
        defer { try? connection.close() }
        return (try? connection.value("SELECT Z_UUID FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1"))??.text
    }
}

extension Finding.Code {
    /// The write-ahead log beside the store is another store's.
    package static let foreignWriteAheadLog = Self(rawValue: "foreignWriteAheadLog")
}
