import SafeFiles

extension StoreTemplate {
    /// The tables of a store made from this one, of those that held rows at first, that refuse to have theirs removed.
    func refusingTables(of name: String, in folder: Directory, _ scratch: Scratch) throws -> [String] {
        try scratch.withCopy(of: name, in: folder) { store in
            try store.execute("BEGIN")
            return content.rows.filter { !$0.value.isEmpty }.keys.sorted()
                .filter { (try? store.execute("DELETE FROM \"\($0)\"")) == nil }
        }
    }

    /// What there is to object to a fence by which these tables refuse writers; `side` names the store.
    ///
    /// A store that is about to leave its name may be barred: its header lets nobody write anything any more.
    func objectionsToFence(_ refusing: [String], of side: String, mayBeBarred: Bool = false) -> [String] {
        let open = fencedTables.filter { !refusing.contains($0) }
        let wrong = mayBeBarred ? [] : refusing.filter { !fencedTables.contains($0) }
        return open.map { "the \(side) store takes writes to \($0)" }
            + wrong.map { "who only opens the \(side) store may write to \($0), and is refused" }
    }
}
