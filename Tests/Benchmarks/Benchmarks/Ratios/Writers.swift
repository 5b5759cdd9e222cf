import Foundation

/// Processes that write to a store, one small transaction after another, until they are refused.
final class Writers {
    private var children: [pid_t] = []

    /// Starts `count` writers; each ends by itself at the first refusal.
    init(_ count: Int, to store: SampleStore) throws {
        let script = SampleStore.folder.appending(path: "writes.sql")
        if !FileManager.default.fileExists(atPath: script.path) {
            // As Core Data writes: the key is taken from Z_PRIMARYKEY in the transaction that uses it.
            let write = """
                BEGIN IMMEDIATE; UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Entry';
                INSERT INTO ZENTRY (Z_PK, Z_ENT, Z_OPT, ZHABIT, ZAT, ZNOTE)
                SELECT Z_MAX, Z_ENT, 1, 1, 0, 'written meanwhile' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Entry'; COMMIT;

                """
            try Data(String(repeating: write, count: 100_000).utf8).write(to: script)
        }
        for _ in 0..<count {
            children.append(
                try ChildProcess.spawn(
                    "sqlite3",
                    ["-bail", "-cmd", ".timeout 20000", store.url.path],
                    input: script.path
                )
            )
        }
    }

    /// Ends them and waits for them.
    func stop() throws {
        for child in children { kill(child, SIGTERM) }
        for child in children { _ = try ChildProcess.wait(for: child, since: .now) }
        children = []
    }
}
