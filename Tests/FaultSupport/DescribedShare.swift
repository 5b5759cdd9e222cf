import Glibc
package import SafeFiles

/// The expected effect of strategies on a shared store, checked without the package's own code.
package struct DescribedShare: Sendable {
    /// The descriptions' file, below the scratch folder's root.
    package static let file = "descriptions.json"
    private static let mode: UInt32 = 0o640
    private static let historyTables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
    private static let historyEntities = ["i16001|", "i16002|", "i16003|"]
    private static let journalVersions = 18...19

    package init() {}

    /// The options for a rollback journal, a history, a mode, a group and a descriptions' file.
    package func arguments(_ scratch: Scratch) -> [String] {
        let access = "SharedAccess:mode=0640,group=\(getegid())"
        return ["RollbackJournal", "HistoryTracking", access].flatMap { ["--strategy", $0] }
            + ["--descriptions", scratch.path + "/" + Self.file]
    }

    /// Objections to the header, the mode and the group of the new store.
    package func objections(to name: String, in folder: Directory) throws -> [String] {
        var objections: [String] = []
        let bytes = try folder.bytes(of: name)
        if bytes.count < 100 || Array(bytes[Self.journalVersions]) != [1, 1] {
            objections.append("the new store's header has no rollback journal mode")
        }
        guard let status = try folder.status(of: name) else { return objections + ["there is no new store"] }
        if status.mode & 0o777 != Self.mode { objections.append("the new store's mode is another") }
        if status.group != getegid() { objections.append("the new store's group is another") }
        return objections
    }

    /// The content without a new, empty history, and the objections to that history.
    package func withoutHistory(_ content: PlainStore.Content) -> (content: PlainStore.Content, objections: [String]) {
        var content = content
        var objections: [String] = []
        for table in Self.historyTables where content.rows.removeValue(forKey: table) != [] {
            objections.append("\(table) is missing or holds rows")
        }
        let names = Self.historyTables.map { name in
            "t" + name.utf8.map { String($0, radix: 16) }.joined(separator: ",")
        }
        content.schema.removeAll { line in
            let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            return parts.count > 2 && names.contains(parts[2])
        }
        let keys = content.rows["Z_PRIMARYKEY"] ?? []
        content.rows["Z_PRIMARYKEY"] = keys.filter { key in !Self.historyEntities.contains { key.hasPrefix($0) } }
        if content.rows["Z_PRIMARYKEY"]?.count != keys.count - Self.historyEntities.count {
            objections.append("the history has not its three numbers")
        }
        return (content, objections)
    }
}
