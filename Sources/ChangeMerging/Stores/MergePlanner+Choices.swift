import StoreFormat

extension MergePlanner {
    /// The policy for an entity: its own, or that of its nearest ancestor with a policy.
    func policy(for entity: String) -> StoreMergePolicy {
        for ancestor in sides.shared.layout.model.lineage(of: entity).reversed() {
            if let policy = settings.policies[ancestor.name] { return policy }
        }
        return settings.policy
    }

    /// True if the old side's value of a contested property is taken.
    ///
    /// `name` is nil for the unnamed end of a relationship, which history does not record.
    mutating func takesOld(_ name: String?, of entity: String, from source: RowKey, into target: RowKey) -> Bool {
        switch policy(for: entity) {
        case .error, .mergeByPropertyStoreTrump, .rollback: return false
        case .mergeByPropertyObjectTrump, .overwrite: return true
        case .newest:
            guard let name, let here = oldTimes.time(of: name, in: source),
                let there = sharedTimes.time(of: name, in: target)
            else {
                note(.timesUnknown, entity, name)
                return false
            }
            return here > there
        }
    }

    mutating func note(_ kind: MergeNote.Kind, _ entity: String, _ property: String? = nil) {
        if let index = plan.notes.firstIndex(where: {
            $0.kind == kind && $0.entity == entity && $0.property == property
        }) {
            plan.notes[index].count += 1
        } else {
            plan.notes.append(MergeNote(kind, entity: entity, property: property, count: 1))
        }
    }
}
