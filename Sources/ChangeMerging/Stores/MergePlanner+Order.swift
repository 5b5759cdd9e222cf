import StoreFormat

extension MergePlanner {
    /// Records each side's version of the orders that the merge may change.
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
            // A key that denotes another object on the old side has no order there.
            let source = plan.remapping.source(of: owner)
            let members = try sides.old.partners(relationOfOld(relation), at: slot.end, of: source.key)
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
                    prefersOld: prefersOldOrder(relation[slot.end], source, owner)
                )
            )
        }
    }

    /// Unknown times are not reported here, because reordering on both sides is not a conflict.
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
    mutating func listForHistory() throws {
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
        // A reader of the old store knows other objects under these keys, or keys that do not exist here.
        var doubtful = Set(sides.old.keys.changedRows)
        for (source, target) in plan.remapping.rekeyed {
            doubtful.formUnion([RowKey(root: source.root, key: target.own), plan.remapping.row(source)])
        }
        // The keys of their partners may differ too.
        for row in sides.old.keys.targets {
            guard let entity = try sides.old.entity(of: row) else { continue }
            for link in try sides.old.links(of: row, kindOf: entity.name) {
                let link = plan.remapping.link(link, of: relation(link))
                doubtful.formUnion(LinkRelation.Position.allCases.map { self.row(link, $0) })
            }
        }
        // Equal versions may hide that an object's members differ.
        let oldLinks = old.linksAdded.union(old.linksRemoved).map { plan.remapping.link($0, of: relation($0)) }
        for link in shared.linksAdded.union(shared.linksRemoved).union(oldLinks) {
            for end in LinkRelation.Position.allCases where relation(link)[end].name != nil {
                doubtful.insert(row(link, end))
            }
        }
        doubtful.subtract(listings.map(\.row))
        doubtful.subtract(arriving)
        doubtful.subtract(plan.deletions.keys)
        doubtful.subtract(plan.restorations.keys)
        for row in SideChanges.sorted(doubtful) {
            if let entity = try sides.shared.entity(of: row) {
                list(row, entity.name, .update)
            } else if let entity = try sides.old.ownEntity(of: row) {
                list(row, entity.name, .delete)
            }
        }
        plan.listings = listings
    }
}
