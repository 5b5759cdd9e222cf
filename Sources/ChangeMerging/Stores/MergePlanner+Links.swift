/// One side's changes of partners at single ends.
private struct SlotChanges {
    /// The pair with the new partner; nil if the partner was removed.
    private(set) var links: [LinkSlot: Link?] = [:]

    init(_ planner: MergePlanner, added: Set<Link>, removed: Set<Link>) {
        for link in removed {
            for slot in planner.singleSlots(of: link) { links[slot] = .some(nil) }
        }
        for link in added {
            for slot in planner.singleSlots(of: link) { links[slot] = .some(link) }
        }
    }
}

/// A single end at which both sides set different partners.
private struct Contest {
    let slot: LinkSlot
    let given: Link?
    let theirs: Link?
    /// The resolver's decision, else the policy's.
    var conflict: StoreMergeConflict
}

extension MergePlanner {
    /// The single ends of a pair, where an object has at most one partner.
    func singleSlots(of link: Link) -> [LinkSlot] {
        let relation = relation(link)
        return LinkRelation.Position.allCases.filter { relation[$0].isSingle }
            .map { LinkSlot(relation, $0, link.key($0)) }
    }

    /// Decides which pairs of objects are connected and disconnected.
    mutating func mergeLinks() throws {
        // A disconnection caused by a deletion is not a conflict.
        let (goneFromOld, goneFromShared) = (Set(old.deleted.keys), Set(shared.deleted.keys))
        let sharedRemoved = shared.linksRemoved.filter { !leads(to: goneFromShared, $0) }
        // A disconnection caused by a deletion that is cancelled is cancelled too.
        let oldRemoved = old.linksRemoved.filter { !leads(to: kept, $0) && shared.linksRemoved.contains($0) == false }
        let mapped = Dictionary(
            SideChanges.sorted(old.linksAdded).map { (plan.remapping.link($0, of: relation($0)), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let oldSlots = SlotChanges(
            self,
            added: Set(mapped.keys),
            removed: old.linksRemoved.filter { !leads(to: goneFromOld, $0) }
        )
        let sharedSlots = SlotChanges(self, added: shared.linksAdded, removed: sharedRemoved)

        plan.linksToRemove = oldRemoved.filter(areAlive)
        var contests: [Contest] = []
        for (slot, given) in oldSlots.links.sorted(by: { Self.precedes($0.key, $1.key) }) {
            let theirs: Link?
            if let present = sharedSlots.links[slot] {
                theirs = present
            } else if let present = try partnerOfJoined(slot) {
                theirs = present
            } else {
                continue
            }
            let row = self.row(of: slot)
            guard given != theirs, isAlive(row) else { continue }
            let end = sides.shared.relations[slot.relation][slot.end]
            let takesOld = takesOld(end.name, of: end.entity, from: plan.remapping.source(of: row), into: row)
            let conflict = StoreMergeConflict(
                entity: end.entity,
                primaryKey: slot.key,
                property: end.name,
                reason: .bothChanged,
                base: nil,
                old: Self.partner(given, of: slot),
                shared: Self.partner(theirs, of: slot),
                taken: takesOld ? .old : .shared
            )
            contests.append(
                Contest(slot: slot, given: given, theirs: theirs, conflict: conflict.resolved(by: questions))
            )
        }
        // A pair has two ends, and is added only if both ends take it.
        let lost = Set(contests.compactMap { $0.conflict.taken == .old ? nil : $0.given })
        for var contest in contests {
            if let given = contest.given, lost.contains(given), contest.conflict.taken == .old {
                (contest.conflict.taken, contest.conflict.isResolved) = (.shared, false)
            }
            settle(contest)
        }
        for link in SideChanges.sorted(mapped.keys)
        where !lost.contains(link) && !shared.linksAdded.contains(link) {
            guard areAlive(link) else {
                reportMissingPartner(link)
                continue
            }
            plan.linksToAdd.insert(link)
        }
        for (row, entity) in plan.restorations {
            for link in try sides.old.links(of: row, kindOf: entity) where !old.linksAdded.contains(link) {
                guard areAlive(link),
                    singleSlots(of: link).allSatisfy({ sharedSlots.links[$0] == nil && oldSlots.links[$0] == nil })
                else { continue }
                plan.linksToAdd.insert(link)
            }
        }
    }

    private static func precedes(_ one: LinkSlot, _ other: LinkSlot) -> Bool {
        (one.relation, one.key, one.end == .first ? 0 : 1) < (other.relation, other.key, other.end == .first ? 0 : 1)
    }

    private func leads(to rows: Set<RowKey>, _ link: Link) -> Bool {
        !rows.isEmpty && (rows.contains(row(link, .first)) || rows.contains(row(link, .second)))
    }

    /// The pair that a matched object already has in the shared store.
    private func partnerOfJoined(_ slot: LinkSlot) throws -> Link? {
        let relation = sides.shared.relations[slot.relation]
        guard joined.contains(RowKey(root: relation[slot.end].root, key: slot.key)),
            let partner = try sides.shared.partners(relation, at: slot.end, of: slot.key).first
        else { return nil }
        return slot.end == .first
            ? Link(relation, first: slot.key, second: partner) : Link(relation, first: partner, second: slot.key)
    }

    private func row(of slot: LinkSlot) -> RowKey {
        RowKey(root: sides.shared.relations[slot.relation][slot.end].root, key: slot.key)
    }

    /// Decides a single end at which both sides set different partners, or one side removed the partner.
    private mutating func settle(_ contest: Contest) {
        let slot = contest.slot
        let end = sides.shared.relations[slot.relation][slot.end]
        let row = row(of: slot)
        let takesOld = contest.conflict.taken == .old
        if policy(for: end.entity) == .error, !contest.conflict.isResolved { unsettled += 1 }
        // If the new partner is missing, nothing replaces the existing one; a deletion removes the pairs of its object.
        if takesOld, let theirs = contest.theirs, areAlive(theirs), contest.given.map(areAlive) ?? true {
            plan.linksToRemove.insert(theirs)
        }
        plan.conflicts.append(contest.conflict)
        guard !arriving.contains(row) else { return }
        let loser = takesOld ? row : plan.remapping.source(of: row)
        park(takesOld ? .shared : .old, loser, end.entity, .bothChanged)
    }

    private func areAlive(_ link: Link) -> Bool { isAlive(row(link, .first)) && isAlive(row(link, .second)) }

    private static func partner(_ link: Link?, of slot: LinkSlot) -> StoreMergeConflict.State {
        .partner(link.map { $0.key(slot.end) == slot.key ? $0.key(slot.end.other) : $0.key(slot.end) })
    }

    private mutating func reportMissingPartner(_ link: Link) {
        let relation = relation(link)
        let end: LinkRelation.Position = isAlive(row(link, .first)) ? .first : .second
        guard isAlive(row(link, end)) else { return }
        plan.conflicts.append(
            StoreMergeConflict(
                entity: relation[end].entity,
                primaryKey: link.key(end),
                property: relation[end].name,
                reason: .partnerGone,
                base: nil,
                old: .partner(link.key(end.other)),
                shared: .partner(nil),
                taken: .shared
            )
        )
    }
}
