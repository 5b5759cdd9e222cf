import StoreAccess

extension RelayQueue {
    /// How far a source was imported; nil when it was not.
    func imported(from source: String) throws(RelayError) -> ImportMark? {
        try read { connection in
            var mark: ImportMark?
            try Self.forEachImport(connection) { if $0 == source { mark = $1 } }
            return mark
        }
    }

    /// The position of a new consumer: the end, or before the first imported notice that no consumer has acknowledged.
    ///
    /// Imported notices are recognised by their writer, which a copy of the relay keeps.
    static func beginning(_ connection: StoreConnection) throws -> Int64 {
        let end = try connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'notice'")?.integer ?? 0
        let first = try connection.value(
            """
            SELECT min(sequence) FROM notice WHERE writer GLOB ?
            AND sequence > (SELECT coalesce(max(position), 0) FROM consumer)
            """,
            [.text(LegacyDefaultsImport.writerPrefix + "*")]
        )
        return first?.integer.map { min(end, $0 - 1) } ?? end
    }

    /// Reads the marks of imports from preferences files.
    private static func forEachImport(
        _ connection: StoreConnection,
        _ body: (_ source: String, _ mark: ImportMark) -> Void
    ) throws {
        try connection.forEachRow("SELECT source, entries, digest, sequence FROM import") { row in
            let words = (row.text(2) ?? "").split(separator: " ").map(String.init)
            // The mark of a copied relay has no digest. An earlier version stored the digest alone, which cannot exclude
            // a rewritten file.
            guard words.count == 3, let first = Int64(words[2]) else { return }
            let mark = ImportMark(
                entries: Int(clamping: row.integer(1)),
                digest: words[0],
                state: words[1],
                first: first,
                sequence: row.integer(3)
            )
            body(row.text(0) ?? "", mark)
        }
    }

    /// Posts a notice and records its import in the same transaction, so that a killed process neither loses nor
    /// repeats it.
    func post(_ notice: ChangeNotice, imported: (source: String, mark: ImportMark)) throws(RelayError) -> Int64 {
        try write { connection in
            let sequence = try insert(notice, connection)
            try connection.run(
                "INSERT OR REPLACE INTO import (source, entries, digest, sequence) VALUES (?, ?, ?, ?)",
                [
                    .text(imported.source), .integer(Int64(imported.mark.entries)),
                    .text("\(imported.mark.digest) \(imported.mark.state) \(imported.mark.first ?? sequence)"),
                    .integer(sequence),
                ]
            )
            return sequence
        }
    }

    /// Forgets an empty source; does not write when the source is unknown.
    func forgetImport(from source: String) throws(RelayError) {
        let isKnown = try read { try $0.value("SELECT 1 FROM import WHERE source = ?", [.text(source)]) != nil }
        guard isKnown else { return }
        try write { try $0.run("DELETE FROM import WHERE source = ?", [.text(source)]) }
    }

    /// True while no consumer has acknowledged the notice at that sequence number.
    func isMergedByNobody(from sequence: Int64) throws(RelayError) -> Bool {
        try read { try $0.value("SELECT 1 FROM consumer WHERE position >= ?", [.integer(sequence)]) == nil }
    }

    /// True when there are consumers and each has acknowledged every notice up to that sequence number.
    func isMergedByAll(through sequence: Int64) throws(RelayError) -> Bool {
        try read { connection in
            guard let least = try connection.value("SELECT min(position) FROM consumer")?.integer else { return false }
            return least >= sequence
        }
    }
}

/// How many payloads of one source are imported.
struct ImportMark {
    let entries: Int
    /// The digest of these entries.
    let digest: String
    /// The file's state, which distinguishes it from a rewritten file with the same entries.
    let state: String
    /// The sequence number of the first notice; nil for the notice that is being posted.
    var first: Int64?
    /// The sequence number of the last notice; nil for the notice that is being posted.
    var sequence: Int64?
}
