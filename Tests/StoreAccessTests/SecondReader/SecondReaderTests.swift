import Glibc
import SafeFiles
import StoreAccess
import TestSupport
import Testing

/// The digest of a store is also computed by a reader of the file format that shares nothing with SQLite.
@Suite("A second reader of stores", .sampled)
struct SecondReaderTests {
    @Test("Genuine stores have the digest that the second reader computes", .genuineStores, arguments: Corpus.stores)
    func genuine(_ store: String) throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(store, into: scratch)
        guard try scratch.directory.status(of: location.journalName).map({ $0.size == 0 }) ?? true else { return }
        try Self.compare(location, in: scratch.directory)
    }

    private static let shapes = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT, c REAL, d NUMERIC, e BLOB);
        INSERT INTO t VALUES (1, NULL, '', 1, 1.5, x''), (-5, 1, 'é', 2.5, 'x', x'00ff'), (9223372036854775807, -1, 'z', -0.0, 0, NULL);
        INSERT INTO t (a) VALUES (127), (128), (-128), (-129), (32767), (8388608), (-2147483649), (140737488355328),
            (9223372036854775807), (-9223372036854775808), (9e999), (1e300);
        ALTER TABLE t ADD COLUMN f INTEGER DEFAULT 7; ALTER TABLE t ADD COLUMN g TEXT DEFAULT 'it''s';
        ALTER TABLE t ADD COLUMN h REAL DEFAULT 3; ALTER TABLE t ADD COLUMN i;
        INSERT INTO t (a, f) VALUES (1, 8);
        CREATE TABLE w (b TEXT, a INTEGER, c, PRIMARY KEY (a, b DESC)) WITHOUT ROWID;
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
            INSERT INTO w SELECT 'key ' || i, i % 7, zeroblob(i * 3) FROM n;
        CREATE TABLE g (a INTEGER, b AS (a * 2), c AS (a + 1) STORED, d TEXT);
        INSERT INTO g (a, d) VALUES (1, 'one'), (2, 'two');
        CREATE TABLE large (v); INSERT INTO large VALUES (zeroblob(1)), (zeroblob(450)), (zeroblob(5000)), (zeroblob(70000));
        CREATE TABLE empty (a INTEGER PRIMARY KEY AUTOINCREMENT); CREATE INDEX byA ON t (a);
        CREATE TABLE many (n INTEGER, s TEXT);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO many SELECT i * i, 'row ' || i FROM n;
        DELETE FROM many WHERE n % 3 = 0; PRAGMA user_version = -3; PRAGMA application_id = 252006675;
        """

    @Test("Every form of table and value, in pages of each size", arguments: [512, 1024, 4096, 65_536])
    func shapes(pageSize: Int) throws {
        let scratch = try ScratchFolder()
        let location = try scratch.makeStore("PRAGMA page_size = \(pageSize); " + Self.shapes)
        try Self.compare(location, in: scratch.directory)
    }

    @Test("The committed frames of a log count, and what follows them does not")
    func log() throws {
        let scratch = try ScratchFolder()
        let location = try scratch.makeStore("PRAGMA journal_mode = wal; " + Self.shapes)
        let writer = try scratch.open()
        try writer.execute("DELETE FROM many WHERE n % 2 = 0; PRAGMA user_version = 4")
        try writer.execute("BEGIN; PRAGMA cache_size = 2; UPDATE many SET s = hex(zeroblob(300))")
        let log = try scratch.directory.contents(of: location.writeAheadLogName, limit: 1 << 30)
        let main = try scratch.directory.contents(of: location.name, limit: 1 << 30)
        writer.rollback()
        let pages = try DatabasePages(main: main, log: log)
        let second = try SecondDigest(pages, StoreSchema(reading: writer))
        #expect(try second.value == StoreDigest(of: writer, externalFiles: nil).value)
        #expect(try SecondDigest(DatabasePages(main: main), StoreSchema(reading: writer)).value != second.value)
        try writer.close()
    }

    /// The trials of each seed; 100,000 in all in a soak.
    private static let trials =
        getenv("STORE_MIGRATE_SOAK") == nil ? Tier.sized(200, inVerify: 500) : 25_000

    @Test(
        "A damaged store that SQLite accepts has the digest that the second reader computes",
        arguments: Seed.several(4)
    )
    func damaged(seed: UInt64) throws {
        let scratch = try ScratchFolder()
        let location = try scratch.makeStore("PRAGMA page_size = 512; " + Self.shapes)
        let original = try scratch.directory.contents(of: location.name, limit: 1 << 20)
        let schema = try StoreSchema(reading: StoreConnection(location, access: .immutable))
        var generator = SeededGenerator(seed: seed)
        var accepted = 0
        for trial in 0..<Self.trials {
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let name = "damaged.sqlite"
            let file = try scratch.directory.createFile(name, mode: 0o600)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
            if try Self.isAccepted(scratch.location(name), as: schema) {
                accepted += 1
                try Self.compare(scratch.location(name), in: scratch.directory, "trial \(trial) of seed \(seed)")
            }
            try scratch.directory.removeFile(name)
        }
        print("damaged stores that SQLite accepts: \(accepted) of \(Self.trials), seed \(seed)")
        #expect(accepted * 10 > Self.trials)
    }

    /// False, too, for a store with other definitions: their defaults would have to be evaluated as SQLite does.
    private static func isAccepted(_ location: StoreLocation, as original: StoreSchema) throws -> Bool {
        do {
            let connection = try StoreConnection(location, access: .immutable)
            // The check does not read every value.
            _ = try StoreDigest(of: connection, externalFiles: nil)
            return try connection.value("PRAGMA integrity_check")?.text == "ok"
                && connection.value("PRAGMA encoding")?.text == "UTF-8"
                && StoreSchema(reading: connection) == original
        } catch is StoreError {
            return false
        }
    }

    private static func compare(_ location: StoreLocation, in folder: Directory, _ trial: String = "") throws {
        let main = try folder.contents(of: location.name, limit: 1 << 30)
        let log =
            try folder.status(of: location.writeAheadLogName) == nil
            ? [] : folder.contents(of: location.writeAheadLogName, limit: 1 << 30)
        // SQLite may fold the log of this private copy into the main file.
        let connection = try StoreConnection(location, access: log.isEmpty ? .immutable : .privateCopy)
        let second = try SecondDigest(DatabasePages(main: main, log: log), StoreSchema(reading: connection))
        let first = try StoreDigest(of: connection, externalFiles: nil)
        for (one, other) in zip(first.tables, second.tables) { #expect(one == other, "\(location.name) \(trial)") }
        #expect(first.tables.count == second.tables.count)
        #expect(first.schema == second.schema, "\(location.name) \(trial)")
        #expect(first.value == second.value, "\(location.name) \(trial)")
        try connection.close()
    }
}
