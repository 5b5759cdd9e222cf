internal import ChangeMerging
internal import StoreFormat

/// Builds a save request from changed objects, and applies the outcome to them.
extension ObjectGraph {
    /// The request for all unsaved changes, in the order of the changes; `new` gives the order of the insertions.
    func saveRequest(inserting new: [ManagedObject]) throws -> SaveRequest {
        var request = SaveRequest()
        var joined: Set<JoinedPair> = []
        let model = try source.shape()
        request.insertions.reserveCapacity(new.count)
        for object in new {
            request.insertions.append(insertion(object))
            if !object.toManys.isEmpty { request.links += try links(of: object, model, &joined) }
        }
        for object in updated.inOrder() {
            if let update = try update(object) { request.updates.append(update) }
            request.links += try links(of: object, model, &joined)
        }
        for object in deleted.inOrder() {
            request.deletions.append(SaveRequest.Deletion(id: object.objectID, base: base(of: object)))
        }
        return request
    }

    private func insertion(_ object: ManagedObject) -> SaveRequest.Insertion {
        SaveRequest.Insertion(
            id: object.objectID,
            shape: object.shape,
            attributes: object.attributes,
            toOnes: object.toOnes,
            set: object.changed
        )
    }

    /// The row that an object was read from.
    ///
    /// For a fault it is the cached row, so that a stale row is detected as a conflict.
    private func base(of object: ManagedObject) -> RowSnapshot? {
        object.base ?? source.sharedRow(of: object.objectID)
    }

    private func update(_ object: ManagedObject) throws -> SaveRequest.Update? {
        var update = SaveRequest.Update(id: object.objectID, base: base(of: object), values: [:])
        for property in object.changedProperties() {
            switch property {
            case .attribute(let index):
                update.values[object.shape.attributes[index].name] = .attribute(object.attribute(index))
            case .toOne(let index):
                guard !object.shape.toOnes[index].isTransient else { continue }
                update.values[object.shape.toOnes[index].name] = .object(object.toOne(index))
            case .toMany(let index):
                let relationship = object.shape.toManys[index]
                guard !relationship.isTransient, let value = object.toManys[index] else { continue }
                update.members[relationship.name] = ToManyChange(
                    added: Set(value.added.map(PropertyValue.object)),
                    removed: Set(value.removed.map(PropertyValue.object))
                )
                if value.arrangement != nil { update.isRearranged = true }
            }
        }
        return update.values.isEmpty && update.members.isEmpty ? nil : update
    }

    /// One pair of a many-to-many relationship, as seen from one side.
    private struct JoinedPair: Hashable {
        let owner: ManagedObjectID
        let relationship: String
        let member: ManagedObjectID
    }

    private func links(
        of object: ManagedObject,
        _ model: ModelShape,
        _ joined: inout Set<JoinedPair>
    ) throws -> [SaveRequest.Link] {
        var result: [SaveRequest.Link] = []
        for (index, value) in object.toManys.sorted(by: { $0.key < $1.key }) where value.hasChanges {
            let relationship = object.shape.toManys[index]
            guard !relationship.isTransient else { continue }
            var link = SaveRequest.Link(owner: object.objectID, relationship: relationship.name, added: [], removed: [])
            let inverse = relationship.inverse.flatMap { name in
                model.entities[relationship.destination]?.property(name).map { (name, $0) }
            }
            if case .toOne? = inverse?.1 {
                // The to-one side is saved and determines the relationship.
            } else {
                // Both sides of a pair may have changed: the first one saves it.
                func isFirst(_ member: ManagedObjectID) -> Bool {
                    if let (name, _) = inverse,
                        joined.contains(JoinedPair(owner: member, relationship: name, member: object.objectID))
                    {
                        return false
                    }
                    joined.insert(
                        JoinedPair(owner: object.objectID, relationship: relationship.name, member: member)
                    )
                    return true
                }
                link.added = value.added.filter(isFirst)
                link.removed = value.removed.sorted().filter(isFirst)
            }
            if relationship.isOrdered {
                link.order = try members(of: object, index)
                link.base = object.toManys[index]?.base ?? []
            }
            if !link.added.isEmpty || !link.removed.isEmpty || link.order != nil { result.append(link) }
        }
        return result
    }

    // MARK: After the save

    /// Updates the objects to the saved rows; with `stores`, only objects of these stores.
    ///
    /// `new` are the inserted objects in the order of the request.
    func adopt(_ outcome: SaveOutcome, inserting new: [ManagedObject], of stores: Set<String>? = nil) {
        for insertion in outcome.insertions { insertion.id.becomes(insertion.permanentID) }
        permanentIDs.merge(outcome.standIns)
        // Objects saved to a parent keep their temporary IDs.
        let isFinal = !(source is ManagedObjectContext)
        func renamed(_ id: ManagedObjectID) -> ManagedObjectID {
            if !outcome.standIns.isEmpty, let other = outcome.standIns[id] { return other }
            return isFinal && id.isTemporaryID ? permanentIDs[id] ?? id : id
        }
        news.savedIDs = outcome.inserted
        for ids in [outcome.updated, outcome.deleted] where !ids.isEmpty { news.savedIDs.formUnion(ids) }
        var rows = [ManagedObjectID: RowSnapshot](minimumCapacity: outcome.rows.count)
        for row in outcome.rows { rows[row.id] = row }
        let saved = objects(of: outcome.insertions, among: new)
        var (others, changed, gone) = (inserted, updated, deleted)
        if saved.count == others.count { others = [] } else { others.subtract(saved.map(\.object)) }
        if let stores {
            func isSaved(_ object: ManagedObject) -> Bool {
                renamed(object.objectID).storeUUID.map(stores.contains) ?? false
            }
            (others, changed, gone) = (others.filter(isSaved), changed.filter(isSaved), gone.filter(isSaved))
            forgetChanges(of: others.union(saved.map(\.object)).union(changed).union(gone))
        } else {
            clearChanges()
        }
        // In bulk, because there may be many.
        strike(saved.map(\.object))
        var retained: [RowSnapshot] = []
        retained.reserveCapacity(saved.count)
        for (object, insertion) in saved {
            object.status.remove(.inserted)
            register(object, as: insertion.permanentID)
            let row = insertion.row ?? rows[insertion.permanentID]
            if let row, !object.status.contains(.holdsRow) {
                retained.append(row)
                object.status.insert(.holdsRow)
            }
            settle(object, row, renamed)
        }
        for object in others {
            object.status.remove(.inserted)
            let id = renamed(object.objectID)
            if id != object.objectID, registered(id).map({ $0 !== object }) ?? false {
                // An object with the same unique values replaces this one.
                news.deleted.insert(object)
                dismiss(object)
                continue
            }
            if id != object.objectID { rename(object, to: id) }
            let row = rows[id]
            if let row, !object.status.contains(.holdsRow) {
                retained.append(row)
                object.status.insert(.holdsRow)
            }
            settle(object, row, renamed)
        }
        source.retain(retained)
        for object in changed {
            object.status.remove(.updated)
            if outcome.kept.contains(object.objectID) {
                turnIntoFault(object)
                news.refreshed.insert(object)
            } else if !outcome.deleted.contains(object.objectID) {
                settle(object, rows[object.objectID], renamed)
            }
        }
        for object in gone {
            object.status.remove(.deleted)
            if outcome.kept.contains(object.objectID) {
                turnIntoFault(object)
                news.refreshed.insert(object)
            } else {
                dismiss(object)
                object.status.insert(.deleted)
            }
        }
        if outcome.isMerged {
            // The merge policy changed the request: only the store knows the members of relationships.
            for object in Array(others.union(changed)) + saved.map(\.object) {
                object.forgetDestinations()
            }
        }
        forget(outcome.deleted.subtracting(gone.map(\.objectID)))
        // Rows that the save changed in addition: the other sides of relationships.
        for row in outcome.rows {
            guard let object = registered(row.id), !object.isFault, object.base !== row else { continue }
            fill(object, from: row)
            news.refreshed.insert(object)
        }
    }

    /// The objects of the insertions, which are usually in the order of the request.
    private func objects(
        of insertions: [SaveOutcome.Insertion],
        among new: [ManagedObject]
    ) -> [(object: ManagedObject, insertion: SaveOutcome.Insertion)] {
        let pairs = zip(new, insertions)
        if insertions.count == new.count, pairs.allSatisfy({ $0.objectID === $1.id }) { return pairs.map { ($0, $1) } }
        // An object that reappears was not inserted here.
        return insertions.compactMap { insertion in
            registered(insertion.id).flatMap { $0.isInserted ? ($0, insertion) : nil }
        }
    }

    /// Removes objects that the store deleted in addition, by relationships that other saves added.
    private func forget(_ deleted: Set<ManagedObjectID>) {
        guard !deleted.isEmpty else { return }
        for object in registeredObjects {
            for index in object.toManys.keys where object.toManys[index]?.leads(to: deleted) == true {
                object.ownValues().toManys[index]?.drop(deleted)
            }
        }
        for id in deleted { if let object = registered(id) { forgetRow(of: object) } }
    }

    /// Gives a saved object the store's values, without unsaved changes.
    private func settle(
        _ object: ManagedObject,
        _ row: RowSnapshot?,
        _ renamed: (ManagedObjectID) -> ManagedObjectID
    ) {
        if case .values(let values) = object.content {
            for index in values.toManys.keys { values.toManys[index]?.commit(renamed) }
            values.changed = []
            values.order = 0
        }
        guard let row else { return object.renameDestinations(renamed) }
        let attributes = object.shape.transientAttributes.isEmpty ? [] : object.attributes
        let toManys = object.toManys
        fill(object, from: row)
        if !toManys.isEmpty { object.ownValues().toManys = toManys }
        for index in object.shape.transientAttributes where attributes.indices.contains(index) {
            if attributes[index] != object.attribute(index) { object.ownValues().set(attributes[index], at: index) }
        }
    }
}

extension ObjectGraph {
    /// Throws for objects that violate the model; checks only changed properties of objects that were saved before.
    func validate() throws {
        var errors: [ManagedObjectError] = []
        for object in inserted { errors += try violations(object) }
        for object in updated { errors += try violations(object, object.changedProperties()) }
        for object in deleted { errors += try denials(object) }
        if errors.count == 1, let error = errors.first { throw error }
        guard errors.isEmpty else {
            let messages = Set(errors.map(\.message)).sorted().joined(separator: "; ")
            throw ManagedObjectError(
                .multipleValidationErrors,
                messages,
                objectIDs: Set(errors.flatMap(\.objectIDs)).sorted()
            )
        }
    }

    /// The violations of an object; with `changed`, checks only these properties.
    private func violations(
        _ object: ManagedObject,
        _ changed: [ObjectShape.Property]? = nil
    ) throws -> [ManagedObjectError] {
        var result: [ManagedObjectError] = []
        func report(_ code: ManagedObjectError.Code, _ name: String, _ problem: String) {
            result.append(
                ManagedObjectError(code, "\(object.shape.name).\(name) \(problem)", objectIDs: [object.objectID])
            )
        }
        func concerns(_ property: ObjectShape.Property) -> Bool { changed?.contains(property) ?? true }
        let shape = object.shape
        for index in shape.mandatoryAttributes where concerns(.attribute(index)) && object.attribute(index).isNull {
            report(.missingMandatoryProperty, shape.attributes[index].name, "must have a value")
        }
        for index in shape.mandatoryToOnes where concerns(.toOne(index)) && object.toOne(index) == nil {
            report(.missingMandatoryProperty, shape.toOnes[index].name, "must have a destination")
        }
        for index in shape.countedToManys where concerns(.toMany(index)) {
            let relationship = shape.toManys[index]
            let count = try members(of: object, index).count
            if count < relationship.minCount, count > 0 || !relationship.isOptional {
                report(.relationshipLacksMinimumCount, relationship.name, "has too few destinations")
            }
            if relationship.maxCount > 0, count > relationship.maxCount {
                report(.relationshipExceedsMaximumCount, relationship.name, "has too many destinations")
            }
        }
        return result
    }

    private func denials(_ object: ManagedObject) throws -> [ManagedObjectError] {
        try object.shape.relationshipProperties.compactMap { property in
            guard let relationship = object.shape.relationship(property), relationship.deleteRule == .deny else {
                return nil
            }
            let left = try destinations(of: object, property)
                .filter { id in registered(id).map { !$0.isDeleted } ?? true }
            guard !left.isEmpty else { return nil }
            return ManagedObjectError(
                .relationshipDeniesDeletion,
                "\(object.shape.name).\(relationship.name) denies the deletion: the object still has destinations",
                objectIDs: [object.objectID]
            )
        }
    }
}
