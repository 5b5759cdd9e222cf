internal import CSQLite

extension Scan {
    /// True when the program that this `EXPLAIN` statement lists reads every entry of one index and nothing else.
    ///
    /// Only then does the scan read the index itself: an evaluated condition would hide an entry that should not exist, and a
    /// table lookup would return the table's value.
    var readsOneIndexAlone: Bool {
        let plainOperations: Set<String> = [
            "Init", "Transaction", "Goto", "Explain", "OpenRead", "ColumnsUsed", "DeferredSeek", "RealAffinity",
            "IdxRowid", "ResultRow", "Next", "Halt", "Noop", "Column", "Rewind",
        ]
        var isPlain = true
        var scanned: Set<Int64> = []
        var read: Set<Int64> = []
        do {
            try forEachRow { statement in
                guard let name = sqlite3_column_text(statement, 1).map({ String(cString: $0) }) else { return }
                let cursor = sqlite3_column_int64(statement, 2)
                if !plainOperations.contains(name) { isPlain = false }
                if name == "Rewind" { scanned.insert(cursor) }
                if name == "Column" || name == "IdxRowid" { read.insert(cursor) }
            }
        } catch {
            return false
        }
        return isPlain && scanned.count == 1 && read == scanned
    }
}
