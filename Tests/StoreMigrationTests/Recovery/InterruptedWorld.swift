import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

/// The progress of a run before it was killed.
struct Interruption: CustomTestStringConvertible, Sendable {
    /// The location of the copy.
    enum Copy: Sendable {
        /// There is no staging folder yet.
        case none
        /// In the staging folder, complete or not.
        case staged
        /// In the staging folder, with its external files published.
        case halfPublished
        case published
    }

    let testDescription: String
    /// The number of records in the journal.
    let records: Int
    let copy: Copy
    var isFenced = false
    var isStagingGone = false
    let goesForward: Bool

    /// A run to a vacant path: begin, staging, publishing, published, fenced, proved, done.
    static let publishing = [
        Self(testDescription: "begun", records: 1, copy: .none, goesForward: false),
        Self(
            testDescription: "with a private folder that is not journalled",
            records: 1,
            copy: .none,
            goesForward: false
        ),
        Self(testDescription: "with a private folder", records: 2, copy: .none, goesForward: false),
        Self(testDescription: "with a copy", records: 2, copy: .staged, goesForward: false),
        Self(testDescription: "about to publish", records: 3, copy: .staged, goesForward: false),
        Self(testDescription: "with external files in place", records: 3, copy: .halfPublished, goesForward: false),
        Self(testDescription: "in place, not journalled", records: 3, copy: .published, goesForward: true),
        Self(testDescription: "in place", records: 4, copy: .published, goesForward: true),
        Self(
            testDescription: "fenced, not journalled",
            records: 4,
            copy: .published,
            isFenced: true,
            goesForward: true
        ),
        Self(testDescription: "fenced", records: 5, copy: .published, isFenced: true, goesForward: true),
        Self(testDescription: "proved", records: 6, copy: .published, isFenced: true, goesForward: true),
        Self(
            testDescription: "cleaned up",
            records: 6,
            copy: .published,
            isFenced: true,
            isStagingGone: true,
            goesForward: true
        ),
    ]
}

/// Both paths after a killed run, made from a complete run.
struct InterruptedWorld {
    let places: Places
    let transaction: String
    /// The content that must not be lost.
    let digest: String

    init(_ interruption: Interruption, mode: String) throws {
        places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode=\(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1), (2); CREATE INDEX t_x ON t (x)"
        )
        try places.writeExternalFile("blob", 7, count: 1000, in: places.old)
        digest = try places.digest(of: places.oldStore)
        transaction = try #require(try places.share().transaction)
        try #require(try places.records().count == 7)

        let container = places.container.directory
        var journalled = try firstRecords(interruption.records)
        if !interruption.isStagingGone, interruption.copy != .none || interruption.testDescription.contains("folder") {
            let staging = try container.createDirectory(StagingFolder.name(for: transaction), mode: 0o700)
            if journalled.count > 1 { journalled[1] = .nest(try staging.status().identity) }
            try fill(staging, interruption.copy)
        }
        if interruption.copy == .none { try removeNewStore() }
        if interruption.records < 6 { try container.removeFile(ReceiptFile.receiptName(for: places.name)) }
        if !interruption.isFenced { try liftFence() }
        try rewriteJournal(journalled)
    }

    /// The first records of the run, read from a journal that ends there: a complete run drops the names of external files.
    private func firstRecords(_ count: Int) throws -> [JournalRecord] {
        let lines = try places.journalFolder().contents(of: MigrationJournal.name, limit: 1 << 20)
            .split(separator: UInt8(ascii: "\n"))
        let scratch = try ScratchFolder()
        try scratch.write(MigrationJournal.name, Array(lines.prefix(count).joined(separator: [10])) + [10])
        let records = try MigrationJournal.records(in: scratch.directory)
        try #require(records.count == count)
        return records
    }

    /// Moves the published files back into the staging folder.
    private func fill(_ staging: Directory, _ copy: Interruption.Copy) throws {
        guard copy == .staged || copy == .halfPublished else { return }
        let container = places.container.directory
        try container.move(places.name, to: places.name, in: staging)
        let external = try staging.createDirectory(StagingFolder.externalName, mode: 0o700)
        guard copy == .staged, let folder = try container.externalData(of: places.newStore) else { return }
        try folder.move("blob", to: "blob", in: external)
        try removeSupportFolder()
    }

    private func removeNewStore() throws {
        let container = places.container.directory
        try container.removeFile(places.name)
        try container.externalData(of: places.newStore)?.removeFile("blob")
        try removeSupportFolder()
    }

    private func removeSupportFolder() throws {
        let container = places.container.directory
        try container.openDirectory(places.newStore.supportFolderName)
            .removeDirectory(StoreLocation.externalDataFolderName)
        try container.removeDirectory(places.newStore.supportFolderName)
    }

    private func liftFence() throws {
        let connection = try places.old.open()
        try connection.beginWriting(deadline: Deadline(after: .seconds(60)))
        try FenceWriter(connection).lift()
        try connection.commit(deadline: Deadline(after: .seconds(60)))
        try connection.close()
    }

    private func rewriteJournal(_ records: [JournalRecord]) throws {
        let folder = try places.journalFolder()
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in records { try journal.append(record) }
    }
}
