import StoreFormat

extension RelayQueue {
    /// How far a source was taken over; nil when nothing of it was.
    func imported(from source: String) throws(RelayError) -> ImportMark? {
        try read { connection in
            var mark: ImportMark?
            try connection.forEachRow(
                "SELECT entries, digest, sequence FROM import WHERE source = ?",
                [.text(source)]
            ) { row in
                mark = ImportMark(
                    entries: Int(clamping: row.integer(0)),
                    digest: row.text(1) ?? "",
                    sequence: row.integer(2)
                )
            }
            return mark
        }
    }

    /// Posts a notice and notes in the same transaction that it was taken over: once, whenever one is killed.
    func post(_ notice: ChangeNotice, imported: (source: String, mark: ImportMark)) throws(RelayError) -> Int64 {
        try write { connection in
            let sequence = try insert(notice, connection)
            try connection.run(
                "INSERT OR REPLACE INTO import (source, entries, digest, sequence) VALUES (?, ?, ?, ?)",
                [
                    .text(imported.source), .integer(Int64(imported.mark.entries)), .text(imported.mark.digest),
                    .integer(sequence),
                ]
            )
            return sequence
        }
    }

    /// Forgets a source that is empty again.
    func forgetImport(from source: String) throws(RelayError) {
        try write { try $0.run("DELETE FROM import WHERE source = ?", [.text(source)]) }
    }

    /// True when there are consumers, and each has acknowledged everything up to that place.
    func isMergedByAll(through sequence: Int64) throws(RelayError) -> Bool {
        try read { connection in
            guard let least = try connection.value("SELECT min(position) FROM consumer")?.integer else { return false }
            return least >= sequence
        }
    }
}
