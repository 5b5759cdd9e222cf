import SafeFiles

extension StoreTemplate {
    /// The tables of a store, of those with rows in the template, that refuse a deletion.
    func refusingTables(of name: String, in folder: Directory, _ scratch: Scratch) throws -> [String] {
        try scratch.withCopy(of: name, in: folder) { store in
            try store.execute("BEGIN")
            return content.rows.filter { !$0.value.isEmpty }.keys.sorted()
                .filter { (try? store.execute("DELETE FROM \"\($0)\"")) == nil }
        }
    }

    /// Objections to a fence by which these tables refuse writers; `side` names the store.
    ///
    /// A store that is about to be renamed may be barred: its header refuses every writer.
    func objectionsToFence(_ refusing: [String], of side: String, mayBeBarred: Bool = false) -> [String] {
        let open = fencedTables.filter { !refusing.contains($0) }
        let wrong = mayBeBarred ? [] : refusing.filter { !fencedTables.contains($0) }
        return open.map { "the \(side) store takes writes to \($0)" }
            + wrong.map { "a program that only opens the \(side) store writes to \($0), and is refused" }
    }
}
