internal import ChangeMerging
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
