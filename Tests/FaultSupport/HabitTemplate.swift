/// The small stores for fault tests.
package enum HabitTemplate {
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
    package static func make(journalMode: String, externalFiles: [String: [UInt8]] = [:]) throws -> StoreTemplate {
        try StoreTemplate.make(
            "a plain store, \(journalMode)",
            journalMode: journalMode,
            externalFiles: externalFiles,
            committed: committed,
            recent: recent
        )
    }

    /// Makes a plain store with other content, which a share replaces.
    package static func makeOther(journalMode: String) throws -> StoreTemplate {
        try StoreTemplate.make(
            "another plain store, \(journalMode)",
            journalMode: journalMode,
            committed: "CREATE TABLE habit (id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight REAL, photo BLOB);",
            recent: "INSERT INTO habit VALUES (1, 'sing', 9, x'01'), (7, 'swim', 2, NULL);"
        )
    }

    /// Makes a Core Data store with an external file and, by default, a history; or one without objects.
    package static func makeCoreData(
        journalMode: String,
        isEmpty: Bool = false,
        tracksHistory: Bool = true
    ) throws -> StoreTemplate {
        let saves = """
            saves:
              - at: 2026-03-01T09:00:00Z
                insert:
                  - {entity: Habit, values: {name: Run, picture: {bytes: 120000, fill: "large "}}}
                  - {entity: Habit, values: {name: Read}}
            """
        return try StoreTemplate.make(
            "\(isEmpty ? "an empty" : "a") Core Data store, \(journalMode)",
            recipe: """
                about: A store small enough to be shared a thousand times.
                seed: faults
                options:
                  journalMode: \(journalMode == "wal" ? "wal" : "rollback")
                  history: \(tracksHistory)
                  leftInWriteAheadLog: \(journalMode == "wal" && !isEmpty ? "rows" : "nothing")
                model:
                  entities:
                    Habit:
                      attributes:
                        name: {type: string, optional: false}
                        picture: {type: binaryData, externalStorage: true}
                \(isEmpty ? "" : saves)
                """
        )
    }
}
