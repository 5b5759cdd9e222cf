import FoundationEssentials
import TestSupport
import Testing

@Suite("Verb migrate with writers and large stores")
struct MigrateUnderLoadTests {
    /// The rows of the table `log`, which the model lacks and the writers fill.
    private static let log = "SELECT id FROM log ORDER BY id"

    @Test("No acknowledged row is lost while programs write during migrations", arguments: ["wal", "rollback"])
    func writers(journalMode: String) async throws {
        let versions = try await ModelVersions(journalMode: journalMode)
        let (store, model) = (versions.store, try versions.second())
        try await SQLiteProgram.run(
            store,
            "CREATE TABLE log (id INTEGER PRIMARY KEY, writer INTEGER, text TEXT); PRAGMA wal_checkpoint"
        )
        let writers = try (1...2).map { try StoreWriterProcess(store, loop: $0) }
        for writer in writers { writer.waitForLines(20) }
        let migrate = ["migrate", store, "--model", model, "--lock-timeout", "10s"]
        // A program that writes all the time may keep the migration from its commit; it is then refused.
        let first = try await Tool.runProcess(migrate)
        #expect([0, 11].contains(first.status), "\(first.output)\(first.errors)")
        for writer in writers {
            writer.suspend(true)
            // A writer that stops inside a transaction keeps its lock, and the migration is refused.
            let run = try await Tool.runProcess(migrate + ["--lock-timeout", "200ms"])
            #expect([0, 11].contains(run.status), "\(run.output)\(run.errors)")
            writer.suspend(false)
        }
        var acknowledged: Set<Int64> = []
        for writer in writers {
            let lines = try writer.finish()
            #expect(lines.last == "ended", "\(lines.suffix(2))")
            acknowledged.formUnion(lines.compactMap { Int64($0) })
        }

        let last = try await Tool.runProcess(migrate)

        #expect(last.status == 0, "\(last.output)\(last.errors)")
        let rows = try await SQLiteProgram.run(store, Self.log).split(separator: "\n").compactMap { Int64($0) }
        #expect(acknowledged.count >= 40 && acknowledged.subtracting(rows).isEmpty)
        #expect(try await SQLiteProgram.run(store, "PRAGMA integrity_check") == "ok\n")
        #expect(try await SQLiteProgram.run(store, "SELECT ZNAME, ZGOAL FROM ZHABIT") == "Run|3\nRead|3\n")
    }

    @Test("A migration that copies a table of 90 MB fits into 64 MiB")
    func memory() async throws {
        let versions = try await ModelVersions(leaves: "nothing")
        try await SQLiteProgram.run(
            versions.store,
            """
            WITH c(n) AS (SELECT 3 UNION ALL SELECT n + 1 FROM c WHERE n < 60000)
            INSERT INTO ZHABIT(Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT n, 1, 1, hex(randomblob(750)) FROM c;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 60000 WHERE Z_NAME = 'Habit';
            """
        )
        let model = try versions.document("Second", ModelVersions.habit().replacing("picture", with: "image"))
        let run = try await Tool.run(
            command: [
                "sh", "-c", "ulimit -d \(64 << 10); exec \"$@\"", "sh", try Tool.path, "migrate", versions.store,
                "--model", model,
            ]
        )
        #expect(run.status == 0 && run.output.contains("1 table copied"), "\(run.output)\(run.errors)")
        #expect(
            try await SQLiteProgram.run(versions.store, "SELECT count(*), max(Z_PK) FROM ZHABIT") == "60000|60000\n"
        )
    }

    @Test("A value of 100 MB that moves from its file into its row fits into 64 MiB")
    func externalValue() async throws {
        let versions = try await ModelVersions(leaves: "nothing")
        let files = versions.scratch.path(".Habits_SUPPORT/_EXTERNAL_DATA")
        let file = files + "/" + (try #require(try versions.scratch.names(files).first))
        // The value has its first and last byte where a copy in pieces could lose them.
        let fill =
            #"truncate -s 100000000 "$0" && printf end >>"$0" && printf begin | dd conv=notrunc status=none of="$0""#
        #expect(try await Tool.run(command: ["sh", "-c", fill, file]).status == 0)
        let inline = ModelVersions.habit().replacing(#" allowsExternalBinaryDataStorage="YES""#, with: "")
        let model = try versions.document("Inline", inline)
        let run = try await Tool.run(
            command: [
                "sh", "-c", "ulimit -d \(64 << 10); exec \"$@\"", "sh", try Tool.path, "migrate", versions.store,
                "--model", model,
            ]
        )
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let copy = versions.scratch.path("value")
        try await SQLiteProgram.run(
            versions.store,
            "SELECT writefile('\(copy)', ZPICTURE) FROM ZHABIT WHERE ZPICTURE NOT NULL"
        )
        let aside = try #require(versions.scratch.names(versions.scratch.path).first { $0.contains("-aside-") })
        let kept = versions.scratch.path(aside + "/.Habits_SUPPORT/_EXTERNAL_DATA/")
        let same = ["cmp", copy, kept + (try versions.scratch.names(kept)[0])]
        #expect(try await Tool.run(command: same).status == 0)
        #expect(try versions.scratch.names(files).isEmpty)
    }
}
