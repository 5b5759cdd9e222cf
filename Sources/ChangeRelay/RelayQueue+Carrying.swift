import SafeFiles
package import StoreFormat

extension RelayQueue {
    /// How much was copied from another queue.
    package struct Carried: Sendable, Hashable {
        package var notices = 0
        package var consumers = 0
    }

    /// Copies the pending notices, in order, and the consumers' positions from the queue of the store that this queue's
    /// store is a copy of.
    ///
    /// In an unused queue, sequence numbers and positions stay the same. In a used queue, notices are appended and an
    /// unknown consumer starts at the first notice, so it may receive duplicates. A repeated call copies only what was
    /// posted since.
    ///
    /// `readdressing` is for a store that received the other store's changes by a merge. It translates each notice, and
    /// the copied consumers refresh all objects because their history position in the other store is meaningless here.
    package func carry(
        from old: StoreLocation,
        readdressing: (@Sendable (ChangeNotice.Content) -> ChangeNotice.Content)? = nil
    ) throws(RelayError) -> Carried {
        let source = StoreLocation(folder: old.folder, name: Self.name(for: old.name))
        do {
            let folder = try Directory.open(path: source.folder)
            // The inode distinguishes a new file of the same name, whose sequence numbers start again.
            let inode = try folder.status(of: source.name).map { "\($0.identity.inode)" } ?? ""
            let name = "relay\n" + folder.path + "/" + source.name + "\n" + inode
            return try StoreReader(lockTimeout: lockTimeout)
                .withView(of: source) { view in
                    guard try RelaySchema.isPrepared(view.connection) else { return Carried() }
                    return try write {
                        try Self.carry(from: view.connection, named: name, to: $0, readdressing)
                    }
                }
        } catch {
            throw RelayError(error, path: source.path)
        }
    }

    private static func carry(
        from source: StoreConnection,
        named name: String,
        to target: StoreConnection,
        _ readdressing: ((ChangeNotice.Content) -> ChangeNotice.Content)?
    ) throws -> Carried {
        let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'notice'"
        let isUnused = try target.value("SELECT (\(last)) = 0 AND NOT EXISTS (SELECT 1 FROM consumer)") == .integer(1)
        let beginning =
            try target.value("SELECT coalesce((SELECT min(sequence) - 1 FROM notice), (\(last)))") ?? .integer(0)
        let end = try source.value(last) ?? .integer(0)
        let done =
            try target.value(
                "SELECT sequence FROM import WHERE source = ? AND sequence <= ?",
                [.text(name), end]
            ) ?? .integer(0)
        var carried = Carried()
        try source.forEachRow(
            "SELECT sequence, writer, number, author, posted, content FROM notice WHERE sequence > ? ORDER BY sequence",
            [done]
        ) { row in
            var content = row.value(5)
            if let readdressing {
                let notice = row.withBytes(5) { ChangeNotice.Content(decoding: [UInt8]($0)) }
                content = .blob(try readdressing(notice).encoded())
            }
            // Drop the commit count: it counts commits of the other store.
            try target.run(
                """
                INSERT OR IGNORE INTO notice (sequence, writer, number, author, posted, content)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                (isUnused ? [row.value(0)] : [.null]) + (1..<5).map { row.value($0) } + [content]
            )
            carried.notices += try target.value("SELECT changes()") == .integer(1) ? 1 : 0
        }
        // In the same transaction, so that notices that are merged and removed here are not copied again.
        try target.run(
            "INSERT OR REPLACE INTO import (source, entries, digest, sequence) VALUES (?, 0, '', ?)",
            [.text(name), end]
        )
        if isUnused {
            try target.run("DELETE FROM sqlite_sequence WHERE name = 'notice'", [])
            try target.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('notice', ?)", [end])
        }
        try source.forEachRow("SELECT name, position, needs_refresh, store, history FROM consumer") { row in
            try target.run(
                "INSERT OR IGNORE INTO consumer (name, position, needs_refresh, store, history) VALUES (?, ?, ?, ?, ?)",
                [row.value(0), isUnused ? row.value(1) : beginning]
                    + (readdressing == nil ? (2..<5).map { row.value($0) } : [.integer(1), .null, .null])
            )
            carried.consumers += try target.value("SELECT changes()") == .integer(1) ? 1 : 0
            try target.run(
                "UPDATE consumer SET needs_refresh = 1 WHERE name = ? AND needs_refresh < ?",
                [row.value(0), row.value(2)]
            )
        }
        return carried
    }
}
