import SafeFiles
package import StoreFormat

extension RelayQueue {
    /// What of another queue was taken over.
    package struct Carried: Sendable, Hashable {
        package var notices = 0
        package var consumers = 0
    }

    /// Takes over what pends in the queue beside another store, of which this queue's store is a copy: the notices in their
    /// order, and how far each consumer has come.
    ///
    /// Where this queue was not used yet, places and positions stay as they were. Where it was, notices are added to its end,
    /// and a consumer that it does not know begins at its beginning: it may hear of something twice. Done again it adds only
    /// what was posted since.
    ///
    /// With `readdressing`, this queue's store took the other's changes by a merge: notices are turned into what they mean
    /// here, and consumers that come along refresh all they show, for their place in the other's history means nothing here.
    package func carry(
        from old: StoreLocation,
        readdressing: (@Sendable (ChangeNotice.Content) -> ChangeNotice.Content)? = nil
    ) throws(RelayError) -> Carried {
        let source = StoreLocation(folder: old.folder, name: Self.name(for: old.name))
        do {
            let folder = try Directory.open(path: source.folder)
            // A file of the same name that is another one counts anew.
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
            // How many commits the other store had seen by then means nothing here.
            try target.run(
                """
                INSERT OR IGNORE INTO notice (sequence, writer, number, author, posted, content)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                (isUnused ? [row.value(0)] : [.null]) + (1..<5).map { row.value($0) } + [content]
            )
            carried.notices += try target.value("SELECT changes()") == .integer(1) ? 1 : 0
        }
        // In the same transaction: what is merged and removed here does not come again.
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
