import Foundation
import SafeFiles
import StoreAccess
import StoreBackup
import TestSupport

@testable import StoreMigration

/// A store, archives of it, and a destination.
struct RestoreWorld {
    let archives: ScratchFolder
    let stores: ScratchFolder
    let place: ScratchFolder
    let name: String

    init(name: String = "store.sqlite") throws {
        stores = try ScratchFolder()
        archives = try ScratchFolder()
        place = try ScratchFolder()
        self.name = name
    }

    var store: StoreLocation { stores.location(name) }
    var restored: StoreLocation { place.location(name) }

    /// Backs up the store's present state.
    func backUp(_ store: StoreLocation? = nil, as archive: String = "archive.tar.zst") throws -> URL {
        let url = archives.location(archive).url
        try BackupMaker(of: (store ?? self.store).url).make(at: url)
        return url
    }

    @discardableResult
    func restore(
        _ archive: URL,
        to place: StoreLocation? = nil,
        _ change: (inout RestoreOptions) -> Void = { _ in }
    ) throws(MigrationError) -> RestoreOutcome {
        var options = RestoreOptions()
        options.lockTimeout = .seconds(60)
        change(&options)
        return try StoreRestorer(to: (place ?? restored).url, options: options).restoreAndWait(from: archive)
    }

    func digest(of location: StoreLocation) throws -> String {
        try StoreReader()
            .withView(of: location) { try StoreDigest(of: $0.connection, externalData: $0.externalData).value }
    }

    func execute(_ sql: String, in location: StoreLocation) throws {
        let connection = try StoreConnection(location, access: .liveWriting, lockTimeout: .seconds(60))
        try connection.execute(sql)
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try connection.close()
    }
}
