import Foundation
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreBackup

@Suite("Backups under live writers", .verify, .serialized)
struct LiveBackupTests {
    private static let writers = 6
    /// More rounds with STORE_MIGRATE_SOAK.
    private static let rounds = ProcessInfo.processInfo.environment["STORE_MIGRATE_SOAK"] == "1" ? 1...30 : 1...3

    @Test(
        "A backup has a state that existed: every writer's rows up to one of them",
        arguments: ["wal", "delete"],
        rounds
    )
    func existed(mode: String, round: Int) throws {
        let world = try BackupWorld()
        let store = try world.stores.makeStore(
            "PRAGMA journal_mode=\(mode); CREATE TABLE log (id INTEGER PRIMARY KEY, writer INTEGER, text TEXT);"
                + "CREATE INDEX log_writer ON log (writer)"
        )
        let hasExternalFiles = round % 2 == 0
        if hasExternalFiles {
            _ = try world.stores.createExternalFolder(of: store).createFile("A", mode: 0o644)
        }
        let writers = try (1...Self.writers).map { try StoreWriterProcess(store.path, loop: $0) }
        for writer in writers { writer.waitForLines(10) }

        let archive = try world.make(store.name)

        for writer in writers { writer.waitForLines(20) }
        let acknowledged = try writers.map { try $0.finish().compactMap { Int64($0) } }
        let unpacked = try BackupArchive(at: archive.url).unpacked()
        let connection = try StoreConnection(unpacked.location, access: .immutable)
        #expect(try connection.value("PRAGMA integrity_check")?.text == "ok")
        for (number, acknowledged) in acknowledged.enumerated() {
            var found: [Int64] = []
            try connection.forEachRow("SELECT id FROM log WHERE writer = \(number + 1) ORDER BY id") {
                found.append($0.integer(0))
            }
            #expect(found.count >= 10, "rows that were there before are missing")
            #expect(found == Array(acknowledged.prefix(found.count)), "no state that existed")
        }
        try connection.close()
    }
}
