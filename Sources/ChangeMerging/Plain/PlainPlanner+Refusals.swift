import StoreFormat

extension PlainPlanner {
    /// Stores whose tables were defined differently are not merged: nobody knows what one side's columns mean in the other.
    mutating func refuseDifferentSchemas() throws {
        let expected = try Self.definitions(of: shared)
        var different: Set<String> = []
        for connection in [base, old].compactMap({ $0 }) {
            let found = try Self.definitions(of: connection)
            for name in Set(expected.keys).union(found.keys) where expected[name] != found[name] {
                different.insert(name)
            }
        }
        for name in different.sorted() {
            let table = expected[name]?.first ?? name
            let refusal = MergeRefusal.modelsDiffer(entity: table, property: name == table ? nil : name)
            if !plan.summary.refusals.contains(refusal) { plan.summary.refusals.append(refusal) }
        }
        // A row without a number and without a key cannot be named.
        for table in layout.tables where table.isBag && table.rowID == nil {
            plan.summary.refusals.append(.modelsDiffer(entity: table.name, property: "rowid"))
        }
    }

    /// Without a base, rows are the same by a key that an application gives, by unique values, or by an identity.
    ///
    /// A number that SQLite gave out says nothing in another store: rows of such a table that differ would be doubled.
    mutating func refuseUnidentifiedRows() throws {
        guard base == nil else { return }
        for (index, table) in layout.tables.enumerated()
        where table.hasMovableKey && table.uniques.isEmpty && table.follows == nil
            && settings.identities[table.name] == nil
        {
            guard plan.actions[index].values.contains(where: { $0.kind == .insert }),
                try shared.value("SELECT 1 FROM \(table.quotedName) LIMIT 1") != nil
            else { continue }
            plan.summary.refusals.append(.unidentified(table: table.name))
        }
    }

    /// What defines a database, by name: table and text of each definition, encoding and version; a fence of ours aside.
    static func definitions(of connection: StoreConnection) throws -> [String: [String]] {
        var result: [String: [String]] = [:]
        try connection.forEachRow("SELECT type, name, tbl_name, sql FROM sqlite_schema") { row in
            let (type, name) = (row.text(0) ?? "", row.text(1) ?? "")
            if type == "trigger", name.hasPrefix(StoreFence.prefix) { return }
            if name.hasPrefix("sqlite_stat") || name == "sqlite_sequence" || row.text(2) == MergeEpochTable.name {
                return
            }
            result[name] = [row.text(2) ?? "", row.text(3) ?? "", type]
        }
        for pragma in ["encoding", "user_version"] {
            switch try connection.value("PRAGMA " + pragma) {
            case .text(let text)?: result[pragma] = [pragma, text.string]
            case .integer(let number)?: result[pragma] = [pragma, String(number)]
            default: break
            }
        }
        return result
    }

    /// Refuses what the old side did to virtual tables that cannot be read or built anew.
    mutating func considerVirtualTables() throws {
        for (name, kind) in layout.virtualTables.sorted(by: { $0.key < $1.key }) {
            switch kind {
            case .rebuilt: continue
            case .contentless, .unknown:
                if try hasChangedShadow(of: name) {
                    plan.summary.refusals.append(.modelsDiffer(entity: name, property: nil))
                } else if kind == .contentless, changes.contains(where: { !$0.isEmpty }) {
                    plan.summary.notes.append(MergeNote(.indexNotFollowed, entity: name, count: 1))
                }
            }
        }
    }

    /// True when the tables in which a virtual table keeps its rows differ between base and old side.
    private func hasChangedShadow(of name: String) throws -> Bool {
        let schema = try StoreSchema(reading: old)
        for table in schema.tables {
            guard case .shadow(let owner) = table.kind, owner.lowercased() == name.lowercased() else { continue }
            let now = try StoreDigest.digest(of: table, in: old, monitor: monitor)
            guard let base else {
                if now.rows > 0, table.name.hasSuffix("_docsize") { return true }
                continue
            }
            if try StoreDigest.digest(of: table, in: base, monitor: monitor) != now { return true }
        }
        return false
    }
}
