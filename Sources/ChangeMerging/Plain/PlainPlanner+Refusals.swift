import StoreFormat

extension PlainPlanner {
    /// Accounts for every part of the old store; the planner of a Core Data store does its own accounting.
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

    /// Without a base, rows are matched by a key that the application assigns, by unique values, or by an identity.
    ///
    /// A number assigned by SQLite has no meaning in another store: differing rows of such a table would be duplicated.
    mutating func refuseUnidentifiedRows() throws {
        guard base == nil else { return }
        for (index, table) in layout.tables.enumerated() where table.needsIdentity(settings) {
            guard plan.actions[index].values.contains(where: { $0.kind == .insert }),
                try shared.value("SELECT 1 FROM \(table.quotedName) LIMIT 1") != nil
            else { continue }
            plan.summary.refusals.append(.unidentified(table: table.name))
        }
    }

    /// Search indexes without texts miss the rows that are merged into their tables.
    mutating func noteIndexesLeftBehind() {
        guard changes.contains(where: { !$0.isEmpty }) else { return }
        for (name, kind) in layout.virtualTables.sorted(by: { $0.key < $1.key }) where kind == .contentless {
            plan.summary.notes.append(MergeNote(.indexNotFollowed, entity: name, count: 1))
        }
    }
}
