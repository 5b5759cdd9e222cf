/// The small plain store that faults are tried on.
enum HabitTemplate {
    private static let committed = """
        CREATE TABLE habit (id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight REAL, photo BLOB);
        CREATE TABLE entry (habit INTEGER NOT NULL REFERENCES habit, day TEXT NOT NULL, note, PRIMARY KEY (habit, day))
            WITHOUT ROWID;
        CREATE INDEX entry_day ON entry (day);
        CREATE VIEW named AS SELECT name, day FROM habit JOIN entry ON habit.id = entry.habit;
        PRAGMA user_version = 7;
        INSERT INTO habit VALUES (1, 'read', 1.5, x'00ff'), (2, 'run', NULL, NULL);
        """
    private static let recent = """
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 300)
        INSERT INTO entry SELECT 1 + n % 2, date('2024-01-01', n || ' days'), n FROM number;
        UPDATE habit SET weight = 2 WHERE id = 2;
        """

    /// Makes the store; in WAL mode most of its rows are in the log only.
    static func make(journalMode: String, externalFiles: [String: [UInt8]] = [:]) throws -> StoreTemplate {
        try StoreTemplate.make(
            "a plain store, \(journalMode)",
            journalMode: journalMode,
            fencedTables: ["habit", "entry"],
            externalFiles: externalFiles,
            committed: committed,
            recent: recent
        )
    }
}
