import StoreMigration
import Testing

@testable import store_migrate

@Suite("File systems without inodes, read-only mounts and limits", .mounts)
struct FullFileSystemTests {
    /// Mounts a file system with a number of inodes at `/mnt`, and creates a store there.
    private static func settle(inodes: Int) -> String {
        """
        mount -t tmpfs -o nr_inodes=\(inodes) none /mnt; cd /mnt; mkdir a g
        sqlite3 a/s.db 'PRAGMA journal_mode=wal; CREATE TABLE t(a); INSERT INTO t VALUES(1);' > /dev/null
        before=$(sha256sum < a/s.db)
        """
    }

    @Test("A share without a free inode ends with status 14, advises to free inodes, and changes nothing")
    func noInode() async throws {
        // With 9 inodes the log cannot be created, with 8 the staging folder, with 11 the copy.
        for inodes in [8, 9, 10, 11] {
            let run = try await PrivateMounts.run(
                """
                \(Self.settle(inodes: inodes)); s=0; "$TOOL" share a/s.db g || s=$?
                [ "$(ls -A g)" = "" ] && [ "$before" = "$(sha256sum < a/s.db)" ] && ! ls -d a/.s* 2>/dev/null || s=99
                exit $s
                """
            )
            #expect(run.status == 14, "\(inodes): \(run.errors)")
            #expect(run.errorLines.count == 1, "\(run.errors)")
            #expect(run.errors.contains("Free space and inodes there (df, df -i)"), "\(inodes): \(run.errors)")
        }
    }

    @Test("doctor reports a mount that is read-only, and a file system with few or no free inodes, with status 3")
    func doctor() async throws {
        for (setup, expected) in [
            ("mount -t tmpfs -o ro none /mnt", "mounted read-only"),
            ("mount -t tmpfs -o nr_inodes=4 none /mnt; touch /mnt/a /mnt/b /mnt/c", "0 inodes are free"),
            ("mount -t tmpfs -o nr_inodes=4 none /mnt; touch /mnt/a /mnt/b", "1 inodes are free"),
        ] {
            let run = try await PrivateMounts.run("\(setup); exec \"$TOOL\" doctor /mnt")
            #expect(run.status == 3, "\(run.output)")
            #expect(run.output.contains(expected), "\(run.output)")
        }
    }

    @Test(
        "A read-only mount of the old or the new folder ends with status 12, and the advice is to remount it",
        arguments: [
            ("g", "share a/s.db g", "the file system of the new store is mounted read-only"),
            ("g", "plan a/s.db g", "the file system of the new store is mounted read-only"),
            ("a", "share a/s.db g", "its file system is mounted read-only"),
            ("a", "share a/s.db g --state state", "its file system is mounted read-only"),
            ("b", "share a/s.db g --backup b", "the file system for backups is mounted read-only"),
        ]
    )
    func readOnlyMount(_ folder: String, _ call: String, _ expected: String) async throws {
        let run = try await PrivateMounts.run(
            """
            \(Self.settle(inodes: 100)); mkdir state b; mount --bind \(folder) \(folder)
            mount -o remount,bind,ro \(folder); s=0; "$TOOL" \(call) || s=$?
            [ "$(ls -A g b)" = "$(printf 'b:\n\ng:')" ] && [ "$before" = "$(sha256sum < a/s.db)" ] || s=99
            exit $s
            """
        )
        #expect(run.status == 12, "\(run.errors)")
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains(expected), "\(run.errors)")
        let isCaptureAdvised = folder == "a" && call.contains("--state")
        #expect(run.errors.contains(isCaptureAdvised ? "capture the store" : "Remount"), "\(run.errors)")
        #expect(!run.errors.contains("chmod"), "\(run.errors)")
    }

    @Test("A limit on the size of files ends with status 14, and the error names the limit")
    func fileSizeLimit() async throws {
        let scratch = try Scratch()
        try await scratch.store("s.db", Scratch.habits + "CREATE TABLE b(a); INSERT INTO b VALUES(randomblob(100000));")
        try scratch.folder("g")
        for (limit, call) in [
            (0, "share s.db g"), (4, "share s.db g"), (64, "share s.db g"), (64, "backup s.db -o g/b.tar"),
            (1, "relay post s.db --everything"),
        ] {
            let run = try await Tool.run(
                command: ["bash", "-c", "ulimit -f \(limit); exec '\(try Tool.path)' \(call)"],
                folder: scratch.path
            )
            #expect(run.status == 14, "\(limit), \(call): \(run.errors)")
            #expect(run.errors.contains("ulimit -f"), "\(limit), \(call): \(run.errors)")
        }
        #expect(try scratch.names(scratch.path("g")).isEmpty)
    }

    /// Reading verbs, with the status for a store with a log when there is no space for a private copy.
    static let readingVerbs: [(call: [String], statusWithLog: Int32)] = [
        (["inspect", "a/s.db"], 0), (["fetch", "a/s.db", "t"], 13), (["verify", "a/s.db"], 0),
        (["diff", "a/s.db", "g/s.db"], 14), (["history", "show", "a/s.db"], 13), (["status", "a/s.db", "g/s.db"], 0),
        (["plan", "a/s.db", "g/s.db"], 4),
    ]

    /// Runs a verb with 64 kB of temporary space on a store that has 100 kB and is changed by `change`.
    private func read(_ call: [String], after change: String) async throws -> Tool.Run {
        try await PrivateMounts.run(
            """
            \(Self.settle(inodes: 100)); sqlite3 a/s.db 'INSERT INTO t VALUES(randomblob(100000))'; cp a/s.db g/s.db
            \(change)
            mkdir temporary; mount -t tmpfs -o size=64k none temporary
            TMPDIR=/mnt/temporary exec "$TOOL" \(call.joined(separator: " "))
            """
        )
    }

    @Test("Without space for a private copy, a store with a log is read in place", arguments: readingVerbs)
    func log(_ call: [String], _ status: Int32) async throws {
        let insert = #"sqlite3 a/s.db '.filectrl persist_wal 1' "INSERT INTO t VALUES(1)" > /dev/null"#
        let run = try await read(call, after: insert + "; [ -s a/s.db-wal ]")
        #expect(run.status == status, "\(run.output)\(run.errors)")
    }

    @Test(
        "A reading verb that has no space for the private copy of a store with a journal ends with status 14, as its help says",
        arguments: readingVerbs.map(\.call)
    )
    func journal(_ call: [String]) async throws {
        let kill = """
            sqlite3 a/s.db 'PRAGMA journal_mode=delete; PRAGMA cache_size=1; BEGIN; UPDATE t SET a = randomblob(90000)' \
              '.shell kill -9 $PPID' > /dev/null || true; [ -s a/s.db-journal ]
            """
        let run = try await read(call, after: kill)
        #expect(run.status == 14, "\(run.output)\(run.errors)")
        let words = CommandTree.name(of: call)
        #expect(try #require(CommandTree.verb(of: words)).outcomes.contains(.noSpace))
    }
}
