import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

/// Two paths after an unshare that was killed when its journal recorded the replacement of the old store's content.
struct InterruptedReverseShare {
    let places: Places
    let transaction: String

    /// Creates that state for a shared store that no process has open; with `isCommitted`, the old store's content was
    /// replaced, and `externalFiles` were published.
    ///
    /// Both stores use a rollback journal, so that their main files are complete.
    init(of places: Places, isCommitted: Bool, externalFiles: NameTable<FileIdentity> = [:]) throws {
        self.places = places
        transaction = RunContext.drawTransaction()
        let (old, new) = (places.oldStore, places.newStore)
        try StateFolder(of: old, stateFolder: nil)
            .withJournal(deadline: Deadline(after: .seconds(60))) {
                try $0.append(.unsharing(transaction: transaction))
            }
        let oldFolder = places.old.directory
        let container = places.container.directory
        let aside = try oldFolder.createDirectory(DisplacedFiles.name(for: transaction), mode: 0o700)
        let kept = try aside.createFile(places.name, mode: 0o600)
        try oldFolder.openFile(places.name, for: .reading).copyBytes(to: kept, chunk: 1 << 20)
        try kept.close()
        let main = try #require(try oldFolder.status(of: places.name)).identity
        let records: [JournalRecord] = [
            .begin(
                JournalRecord.RunIdentity(
                    transaction: transaction,
                    old: new,
                    oldIdentity: try #require(try container.status(of: places.name)).identity,
                    new: old,
                    policy: .fence
                )
            ),
            .aside(try aside.status().identity),
            .replacing(
                JournalRecord.Replacement(
                    main: main,
                    externalFiles: externalFiles,
                    oldToken: try container.token(of: places.name),
                    loserDigest: try Self.rowDigest(of: old),
                    digest: try Self.rowDigest(of: new),
                    contentDigest: try places.digest(of: new)
                )
            ),
        ]
        try StateFolder(of: new, stateFolder: nil)
            .withJournal(deadline: Deadline(after: .seconds(60))) { journal in
                for record in records { try journal.append(record) }
            }
        guard isCommitted else { return }
        let cookie = try StoreReader().withView(of: old) { try StoreHeader(reading: $0.connection).schemaCookie }
        let file = try oldFolder.openFile(places.name, for: .writing)
        try file.truncate(to: 0)
        try file.close()
        try places.old.overwrite(places.name, at: 0, places.container.bytes(places.name))
        // As SQLite's backup leaves it.
        let connection = try places.old.open(places.name)
        try connection.execute("PRAGMA schema_version = \(cookie + 1)")
        try connection.close()
    }

    private static func rowDigest(of store: StoreLocation) throws -> String {
        try StoreReader().withView(of: store) { try StoreDigest(of: $0.connection, externalFiles: nil).value }
    }
}
