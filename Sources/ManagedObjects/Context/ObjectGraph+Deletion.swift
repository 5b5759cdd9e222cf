internal import StoreFormat

extension ObjectGraph {
    /// Records a deletion; its delete rules run when pending changes are processed.
    func delete(_ object: ManagedObject) {
        guard object.status.isDisjoint(with: [.deleted, .gone]) else { return }
        remember(object)
        if object.status.contains(.inserted) {
            // The store has no row of it.
            forgetInsertion(object)
            if news.inserted.remove(object) == nil { news.deleted.insert(object) }
        } else {
            if object.order == 0 { object.order = nextOrder() }
            deleted.insert(object)
            news.deleted.insert(object)
        }
        touched.remove(object)
        updated.remove(object)
        object.status.remove(.updated)
        object.status.insert(.deleted)
        undone.append(object)
    }

    /// Runs delete rules, sorts changed objects into the sets, and notifies observers.
    func processPendingChanges() throws {
        try settlePendingChanges()
        postNews()
    }

    /// Processes pending changes without notifying observers.
    func settlePendingChanges() throws {
        while let object = undone.popLast() {
            do {
                try followDeleteRules(of: object)
            } catch {
                // Keep the object queued: otherwise its delete rules never run.
                undone.append(object)
                throw error
            }
        }
        for object in touched where object.status.isDisjoint(with: [.deleted, .gone]) {
            if !object.status.contains(.inserted) { updated.insert(object) }
            if !news.inserted.contains(object) { news.updated.insert(object) }
        }
        touched = []
        news.refreshed.subtract(news.updated)
    }

    private func followDeleteRules(of object: ManagedObject) throws {
        for property in object.shape.relationshipProperties {
            guard let relationship = object.shape.relationship(property), !relationship.isTransient,
                relationship.deleteRule != .noAction
            else { continue }
            for id in try destinations(of: object, property) {
                // An unsaved destination may already be gone with its own deletion.
                guard !isNowhere(id) else { continue }
                let destination = try self.object(id)
                switch relationship.deleteRule {
                case .cascade: delete(destination)
                case .nullify: if let inverse = relationship.inverse { try detach(destination, inverse, from: object) }
                case .deny, .noAction: break
                }
            }
        }
        if object.status.contains(.inserted) { dismiss(object) }
    }

    func destinations(of object: ManagedObject, _ property: ObjectShape.Property) throws -> [ManagedObjectID] {
        switch property {
        case .attribute: return []
        case .toOne(let index):
            try fire(object)
            return object.toOnes.indices.contains(index) ? object.toOnes[index].map { [$0] } ?? [] : []
        case .toMany(let index): return try members(of: object, index)
        }
    }
}
