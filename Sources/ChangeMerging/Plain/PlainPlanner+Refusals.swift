import StoreFormat

extension PlainPlanner {
    /// Goes through every part of the old store; a store of Core Data's is gone through by its own planner.
    mutating func accountForStore() throws {
        var accountant = accountant
        accountant.claim(layout)
        let account = try accountant.account(policy: settings.policy.rule)
        plan.account = account
        plan.summary.refusals += account.refusals
        plan.summary.conflicts += account.conflicts
        account.count(in: &plan.summary.entities)
        unsettled += account.unsettled
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

    /// Search indexes without texts do not know what is merged into the tables that they are about.
    mutating func noteIndexesLeftBehind() {
        guard changes.contains(where: { !$0.isEmpty }) else { return }
        for (name, kind) in layout.virtualTables.sorted(by: { $0.key < $1.key }) where kind == .contentless {
            plan.summary.notes.append(MergeNote(.indexNotFollowed, entity: name, count: 1))
        }
    }
}
