internal import ChangeMerging
internal import FoundationEssentials
internal import StoreFormat
internal import StoreWriting

/// Conflicts with changes made elsewhere to the same objects, resolved by the merge policy.
extension StoreSave {
    /// Applies the policy to the request or throws; the store is locked, so no further conflict can arise before the
    /// write.
    mutating func settleConflicts() throws {
        var found: [ManagedObjectID: VersionConflict] = [:]
        for update in request.updates { found[update.id] = try conflict(over: update) }
        var failures = try settleDeletions()
        if !found.isEmpty {
            outcome.isMerged = true
            try settleUpdates(found, &failures)
        }
        guard failures.isEmpty else { throw SaveConflict(conflicts: failures) }
    }

    private mutating func settleUpdates(
        _ found: [ManagedObjectID: VersionConflict],
        _ failures: inout [MergeConflict<ManagedObjectID, PropertyValue>]
    ) throws {
        let returning = try returningObjects(found)
        var updates: [SaveRequest.Update] = []
        var rolledBack: Set<ManagedObjectID> = []
        for var update in request.updates {
            guard let conflict = found[update.id] else {
                updates.append(update)
                continue
            }
            let state = try state(of: update.id, update.base, local: update.values, conflict)
            let merge = try merge(state, update, absent: absent(from: state, besides: returning))
            switch merge.outcome(by: request.policy) {
            case .fail: failures.append(state)
            case .keep where request.policy == .error && update.isRearranged: failures.append(state)
            case .write(let values, _):
                update.values = values
                updates.append(update)
            case .restore(let values, _) where returning.contains(update.id):
                let key = try objectKey(update.base?.id ?? update.id)
                newKeys[update.id] = key
                writer.announce([key])
                let (next, overflow) = state.oldVersion.addingReportingOverflow(1)
                continuedVersions[update.id] = overflow ? 1 : next
                let shape = try model.entity(update.base?.id.entityName ?? update.id.entityName)
                request.insertions.append(SaveRequest.Insertion(id: update.id, shape: shape, values: values))
            case .keep, .restore, .delete:
                if conflict.found == nil { outcome.deleted.insert(update.id) } else { outcome.kept.insert(update.id) }
                if request.policy == .rollback { rolledBack.insert(update.id) }
            }
        }
        request.updates = updates
        guard !rolledBack.isEmpty else { return }
        request.links.removeAll { rolledBack.contains($0.owner) }
        for index in request.links.indices {
            request.links[index].added.removeAll(where: rolledBack.contains)
            request.links[index].removed.removeAll(where: rolledBack.contains)
        }
    }

    private mutating func settleDeletions() throws -> [MergeConflict<ManagedObjectID, PropertyValue>] {
        var failures: [MergeConflict<ManagedObjectID, PropertyValue>] = []
        var deletions: [SaveRequest.Deletion] = []
        for deletion in request.deletions {
            guard let base = deletion.base,
                let conflict = try writer.conflict(over: objectKey(base.id), expecting: base.version)
            else {
                deletions.append(deletion)
                continue
            }
            outcome.isMerged = true
            let state = try state(of: deletion.id, base, local: nil, conflict)
            switch state.merge.outcome(by: request.policy) {
            case .fail: failures.append(state)
            case .delete: deletions.append(deletion)
            case .keep, .write, .restore:
                if conflict.found == nil {
                    outcome.deleted.insert(deletion.id)
                } else {
                    outcome.kept.insert(deletion.id)
                }
            }
        }
        request.deletions = deletions
        return failures
    }

    // MARK: The three states

    private mutating func conflict(over update: SaveRequest.Update) throws -> VersionConflict? {
        if let base = update.base {
            return try writer.conflict(over: objectKey(base.id), expecting: base.version)
        }
        // An object that was never read has no version to compare; the only conflict is its deletion.
        guard try key(of: update.id) == nil else { return nil }
        return VersionConflict(object: try objectKey(update.id), expected: nil, found: nil)
    }

    private func state(
        of id: ManagedObjectID,
        _ base: RowSnapshot?,
        local: [String: PropertyValue]?,
        _ conflict: VersionConflict
    ) throws -> MergeConflict<ManagedObjectID, PropertyValue> {
        let stored = try conflict.found == nil ? nil : store.row(of: id, through: connection)
        return MergeConflict(
            object: id,
            oldVersion: base?.version ?? 0,
            newVersion: conflict.found,
            base: try base.map { $0.values(of: try model.entity($0.id.entityName)) } ?? [:],
            local: local,
            store: try stored.map { $0.values(of: try model.entity($0.id.entityName)) }
        )
    }

    private func merge(
        _ state: MergeConflict<ManagedObjectID, PropertyValue>,
        _ update: SaveRequest.Update,
        absent: Set<PropertyValue>
    ) -> ThreeWayMerge<PropertyValue> {
        ThreeWayMerge(
            base: state.base,
            local: .changed(update.values, toMany: update.members),
            store: state.store.map { .changed($0) } ?? .deleted,
            absent: absent
        )
    }

    /// Values that can no longer be written: references to deleted objects, and external data whose file is missing.
    private mutating func absent(
        from state: MergeConflict<ManagedObjectID, PropertyValue>,
        besides returning: Set<ManagedObjectID>
    ) throws -> Set<PropertyValue> {
        var result: Set<PropertyValue> = []
        for value in Array(state.base.values) + Array((state.local ?? [:]).values) {
            switch value {
            case .object(let id?):
                guard !id.isTemporaryID, !returning.contains(id), try key(of: id) == nil else { continue }
                result.insert(value)
            case .attribute(.externalData(let file)):
                if try !store.hasExternalFile(file.fileName) { result.insert(value) }
            case .object(nil), .attribute: continue
            }
        }
        return result
    }

    /// The deleted objects that the policy restores: all for which a valid row can be created.
    ///
    /// They may reference each other, so finding those that cannot be restored takes several rounds.
    private mutating func returningObjects(
        _ found: [ManagedObjectID: VersionConflict]
    ) throws -> Set<ManagedObjectID> {
        let gone = request.updates.filter { found[$0.id].map { $0.found == nil } ?? false && $0.base != nil }
        var result = Set(gone.map(\.id))
        var isSettled = false
        while !isSettled {
            isSettled = true
            for update in gone where result.contains(update.id) {
                guard let conflict = found[update.id], let base = update.base else { continue }
                let state = try state(of: update.id, base, local: update.values, conflict)
                let absent = try absent(from: state, besides: result)
                let shape = try model.entity(base.id.entityName)
                if case .restore(let values, _) = merge(state, update, absent: absent).outcome(by: request.policy),
                    shape.isComplete(values)
                {
                    continue
                }
                result.remove(update.id)
                isSettled = false
            }
        }
        return result
    }
}

extension ObjectShape {
    /// True when every mandatory attribute has a value and every mandatory to-one relationship a destination.
    fileprivate func isComplete(_ values: [String: PropertyValue]) -> Bool {
        for attribute in attributes where !attribute.isOptional && !attribute.isTransient && !attribute.isDerived {
            guard let value = values[attribute.name], value != .attribute(.null) else { return false }
        }
        for relationship in toOnes where !relationship.isOptional && !relationship.isTransient {
            guard let value = values[relationship.name], value != .object(nil) else { return false }
        }
        return true
    }
}

/// Moving unique values from one object to another.
extension StoreSave {
    /// Deletes objects that other objects of this save replace, after transferring their relationships.
    mutating func makeRoom() throws {
        for (loser, winner) in request.supplanted {
            // A version conflict may have excluded the winner from this save.
            guard newKey(of: winner) != nil || request.updates.contains(where: { $0.id == winner }),
                let holder = try key(of: loser)
            else { continue }
            // References to a restored object are written before its row exists.
            if let heir = try key(of: winner) { try writer.handOver(relationshipsOf: holder, to: heir) }
            try writer.delete([holder])
        }
    }

    /// Clears one attribute of every affected constraint, so that values can be exchanged in any order.
    mutating func parkUniqueValues() throws {
        for update in request.updates {
            guard let key = try key(of: update.id) else { continue }
            let shape = try model.entity(key.entity)
            for constraint in shape.uniquenessConstraints
            where constraint.contains(where: { update.values[$0] != nil }) {
                let name = constraint.first { if case .attribute? = shape.property($0) { true } else { false } }
                guard let name, parked[update.id]?[name] == nil else { continue }
                let present = try writer.setAside(name, of: key)
                parked[update.id, default: [:]].updateValue(update.values[name] == nil ? present : nil, forKey: name)
            }
        }
    }

    /// Assigns the cleared attributes their new or former values.
    mutating func giveParkedValues() throws {
        for update in request.updates {
            guard let waiting = parked[update.id], let key = try key(of: update.id) else { continue }
            for (name, present) in waiting.sorted(by: { $0.key < $1.key }) {
                if let present {
                    try writer.putBack(name, of: key, present)
                } else if case .attribute(let value)? = update.values[name] {
                    try writer.update(key, writer.stored([name: readable(value)], for: key.entity))
                }
            }
        }
    }
}

extension SaveRequest {
    /// True when an existing object gets other unique values.
    func changesUniqueValues(in model: ModelShape) throws -> Bool {
        try updates.contains { update in
            try model.entity(update.base?.id.entityName ?? update.id.entityName).uniquenessConstraints
                .contains { $0.contains { update.values[$0] != nil } }
        }
    }
}

extension StoreSave {
    /// Adds the inserted objects and their rows to an outcome; returns those whose rows must be read.
    mutating func takeInserted(_ changes: SaveChanges, into outcome: inout SaveOutcome) -> [ManagedObjectID] {
        var unread: [ManagedObjectID] = []
        let time = ContinuousClock.now
        outcome.inserted.reserveCapacity(insertionKeys.count)
        outcome.insertions.reserveCapacity(insertionKeys.count)
        var lastShape: ObjectShape?
        var isWhole = false
        for index in insertionKeys.indices {
            let (key, id) = (insertionKeys[index], insertionIDs[index])
            guard !changes.hasDeletions || changes.hasInserted(key) else { continue }
            let insertion = request.insertions[index]
            if insertion.shape !== lastShape {
                lastShape = insertion.shape
                isWhole = places[key.entity]?.count == insertion.shape.storedAttributes.count
            }
            outcome.inserted.insert(id)
            let row = isWhole && isAsGiven(insertion, key, changes) ? row(insertion, id, time) : nil
            if row == nil { unread.append(id) }
            outcome.insertions.append(SaveOutcome.Insertion(id: insertion.id, permanentID: id, row: row))
        }
        return unread
    }

    /// True when a new object's row equals the given values: reading it again would double the cost of a save.
    private func isAsGiven(_ insertion: SaveRequest.Insertion, _ key: ObjectKey, _ changes: SaveChanges) -> Bool {
        // A restored object may have got further values from an object that it replaces.
        insertion.shape.readsAsWritten && continuedVersions[insertion.id] == nil && !writer.hasTriggers
            && !changes.hasRewritten(key)
            && insertion.shape.realAttributes.allSatisfy { !insertion.attributes[$0].isNotANumber }
    }

    private mutating func row(
        _ insertion: SaveRequest.Insertion,
        _ id: ManagedObjectID,
        _ time: ContinuousClock.Instant
    ) -> RowSnapshot {
        let shape = insertion.shape
        var attributes = insertion.attributes
        for index in shape.transientAttributes { attributes[index] = .null }
        var toOnes = insertion.toOnes
        for (index, destination) in toOnes.enumerated() {
            guard let destination else { continue }
            toOnes[index] = shape.toOnes[index].isTransient ? nil : permanentID(of: destination)
        }
        return RowSnapshot(id: id, version: 1, attributes: attributes, toOnes: toOnes, time: time)
    }
}

extension AttributeValue {
    /// True for NaN, which SQLite stores as null.
    fileprivate var isNotANumber: Bool {
        switch self {
        case .real(let value): value.isNaN
        case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }
}
