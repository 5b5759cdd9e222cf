import Foundation

/// The store for the measurements: a Core Data store of habits and their entries, with two indexes.
///
/// At full size it has a million habits, four million entries in no order, and 450 MB.
struct SampleStore {
    enum JournalMode: String {
        case wal
        case delete
    }

    let url: URL

    /// A folder for all stores, removed when the measurements end.
    static let folder: URL = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "store-migrate-bench-\(getpid())")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: SampleStore.folder) }
        return folder
    }()

    /// The scale of the stores relative to the budgets' sizes (`STORE_MIGRATE_BENCH_SCALE`).
    static let scale = ProcessInfo.processInfo.environment["STORE_MIGRATE_BENCH_SCALE"].flatMap(Double.init) ?? 1

    /// Makes a store of about `megabytes` at full scale, or copies one that was made before.
    static func make(megabytes: Int, _ journalMode: JournalMode = .wal) throws -> SampleStore {
        let original = folder.appending(path: "\(megabytes)-\(journalMode.rawValue)/Habits.sqlite")
        if !FileManager.default.fileExists(atPath: original.path) {
            try build(original, habits: max(100, Int(Double(megabytes) * scale * 1_000_000 / 450)), journalMode)
        }
        let copy = try emptyFolder().appending(path: "Habits.sqlite")
        try FileManager.default.copyItem(at: original, to: copy)
        return SampleStore(url: copy)
    }

    /// A new folder of its own.
    static func emptyFolder() throws -> URL {
        let folder = folder.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    func remove() {
        try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
    }

    private static func build(_ url: URL, habits: Int, _ journalMode: JournalMode) throws {
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let recipe = folder.appending(path: "recipe.yaml")
        try Data(self.recipe.utf8).write(to: recipe)
        try ChildProcess.run(Tool.path, ["fixture", "build", recipe.path, url.path])
        try ChildProcess.run("sqlite3", [url.path, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; " + rows(habits)])
        try ChildProcess.run("sqlite3", [url.path, "PRAGMA journal_mode=\(journalMode.rawValue)"])
    }

    private static func rows(_ habits: Int) -> String {
        """
        BEGIN;
        DELETE FROM ZHABIT; DELETE FROM ZENTRY; DROP INDEX ZENTRY_ZHABIT_INDEX; DROP INDEX Z_Habit_byName;
        WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(habits))
        INSERT INTO ZHABIT (Z_PK, Z_ENT, Z_OPT, ZCREATED, ZNAME, ZNOTE) SELECT i,
            (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Habit'), 1, 700000000.25 + i,
            'habit number ' || (i * 7919 % 1000003), 'a note as people write them ' || i FROM c;
        WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(4 * habits))
        INSERT INTO ZENTRY (Z_PK, Z_ENT, Z_OPT, ZHABIT, ZAT, ZNOTE) SELECT i,
            (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Entry'), 1, 1 + i * 7919 % \(habits),
            700000000.25 + i, 'an entry for one day, done ' || i || ' times' FROM c;
        CREATE INDEX ZENTRY_ZHABIT_INDEX ON ZENTRY (ZHABIT);
        CREATE INDEX Z_Habit_byName ON ZHABIT (ZNAME COLLATE BINARY ASC);
        UPDATE Z_PRIMARYKEY SET Z_MAX = \(habits) WHERE Z_NAME = 'Habit';
        UPDATE Z_PRIMARYKEY SET Z_MAX = \(4 * habits) WHERE Z_NAME = 'Entry';
        COMMIT;
        """
    }

    private static let recipe = """
        about: Habits and their entries.
        seed: benchmark
        model:
          entities:
            Habit:
              attributes:
                name: {type: string, optional: false}
                note: string
                created: date
              relationships:
                entries: {to: Entry, inverse: habit, many: true}
              indexes:
                byName: [name]
            Entry:
              attributes: {at: date, note: string}
              relationships:
                habit: {to: Habit, inverse: entries}
        saves:
          - at: 2026-03-01
            insert:
              - {entity: Habit, name: first, values: {name: First}}
              - {entity: Entry, values: {habit: first}}
        """
}

/// The release build of the tool.
enum Tool {
    /// `STORE_MIGRATE_TOOL`, or the release build of the enclosing package.
    static let path: String =
        ProcessInfo.processInfo.environment["STORE_MIGRATE_TOOL"]
        ?? URL(filePath: #filePath).appending(path: "../../../../../.build/release/store-migrate").standardizedFileURL
        .path
}
