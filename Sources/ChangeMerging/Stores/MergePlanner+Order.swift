import StoreFormat

extension MergePlanner {
    /// Notes what each side knows of the orders that the merge may change.
    mutating func arrange() throws {
        var slots: Set<LinkSlot> = []
        for slot in old.reordered {
            let relation = sides.shared.relations[slot.relation]
            let owner = plan.remapping.row(RowKey(root: relation[slot.end].root, key: slot.key))
            slots.insert(LinkSlot(relation, slot.end, owner.key))
        }
        for link in plan.linksToAdd {
            let relation = relation(link)
            for end in LinkRelation.Position.allCases where relation[end].isOrdered && !relation.isSymmetric {
                slots.insert(LinkSlot(relation, end, link.key(end)))
            }
        }
        for slot in slots.sorted(by: { ($0.relation, $0.key) < ($1.relation, $1.key) }) {
            let relation = sides.shared.relations[slot.relation]
            let owner = RowKey(root: relation[slot.end].root, key: slot.key)
            guard relation[slot.end].isOrdered, isAlive(owner) else { continue }
            // A key that means another object on the old side has no order there.
            let source = plan.remapping.source(of: owner)
            let members =
                try source.map { try sides.old.partners(relationOfOld(relation), at: slot.end, of: $0.key) } ?? []
            let other = relation[slot.end.other].root
            let list = members.map { plan.remapping.row(RowKey(root: other, key: $0)).key }
            let isNew = arriving.contains(owner) || joined.contains(owner)
            var (former, present): ([Int64], [Int64]) = ([], [])
            if !isNew, let base = sides.base {
                former = try base.partners(base.relations[slot.relation], at: slot.end, of: owner.key)
            }
            if !arriving.contains(owner) {
                present = try sides.shared.partners(relation, at: slot.end, of: owner.key)
            }
            plan.arrangements.append(
                MergePlan.Arrangement(
                    slot: slot,
                    base: former,
                    old: list,
                    shared: present,
                    prefersOld: prefersOldOrder(relation[slot.end], source ?? owner, owner)
                )
            )
        }
    }

    /// Nobody is told where the times of orders are not known: it is no conflict that anything was moved on both sides.
    private func prefersOldOrder(_ end: LinkRelation.End, _ source: RowKey, _ owner: RowKey) -> Bool {
        switch policy(for: end.entity) {
        case .error, .mergeByPropertyStoreTrump, .rollback: return false
        case .mergeByPropertyObjectTrump, .overwrite: return true
        case .newest:
            guard let name = end.name, let here = oldTimes.time(of: name, in: source),
                let there = sharedTimes.time(of: name, in: owner)
            else { return false }
            return here > there
        }
    }

    private func relationOfOld(_ relation: LinkRelation) -> LinkRelation { sides.old.relations[relation.index] }

    /// Lists every object that either side changed since the base: a consumer may have read the history of either.
    mutating func listForHistory() {
        guard sides.base != nil else { return }
        var listings: [MergePlan.Listing] = []
        func list(_ row: RowKey, _ entity: String, _ kind: HistoryChange.Kind, _ attributes: Set<String> = []) {
            listings.append(MergePlan.Listing(row: row, entity: entity, kind: kind, attributes: attributes))
        }
        for row in SideChanges.sorted(shared.inserted.keys) where isAlive(row) {
            if let entity = shared.inserted[row] { list(row, entity, .insert) }
        }
        for row in SideChanges.sorted(shared.deleted.keys) where !isAlive(row) {
            if let entity = shared.deleted[row] { list(row, entity, .delete) }
        }
        for (changes, isOld) in [(shared, false), (old, true)] {
            for row in SideChanges.sorted(changes.updated.keys) where isAlive(row) && !(isOld && arriving.contains(row))
            {
                if let entity = changes.kinds[row] { list(row, entity, .update, changes.updated[row] ?? []) }
            }
        }
        for row in SideChanges.sorted(kept) {
            if let entity = old.deleted[row] { list(row, entity, .update) }
        }
        for source in SideChanges.sorted(plan.remapping.targets.keys) {
            guard let target = plan.remapping.targets[source] else { continue }
            if target.reason == .sameObject { list(plan.remapping.row(source), target.entity, .update) }
            // Nobody has the old key any more.
            if !isAlive(source) || (shared.inserted[source] == nil && !arriving.contains(source)) {
                list(source, target.entity, .delete)
            }
        }
        plan.listings = listings
    }
}
