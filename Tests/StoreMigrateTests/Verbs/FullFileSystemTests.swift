import Testing

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
}
