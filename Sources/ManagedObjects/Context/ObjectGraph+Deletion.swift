internal import StoreFormat

extension ObjectGraph {
    /// Notes a deletion; its delete rules are followed when pending changes are processed.
    func delete(_ object: ManagedObject) {
        guard object.status.isDisjoint(with: [.deleted, .gone]) else { return }
        remember(object)
        if object.status.contains(.inserted) {
            // It was never there for anybody else.
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

    /// Follows the delete rules, settles which set each object is in, and tells the observers.
    func processPendingChanges() throws {
        try settlePendingChanges()
        postNews()
    }

    /// The same without a word to observers.
    func settlePendingChanges() throws {
        while let object = undone.popLast() {
            do {
                try followDeleteRules(of: object)
            } catch {
                // Its rules are followed the next time, or what it leads to would never hear of its end.
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
                // One that was never saved may have gone with its own deletion already.
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
