internal import StoreFormat

/// Inverse maintenance: setting one side of a relationship sets the other.
extension ObjectGraph {
    func setToOne(_ object: ManagedObject, _ index: Int, _ destination: ManagedObject?) throws {
        try willChange(object)
        let relationship = object.shape.toOnes[index]
        let former = object.toOne(index)
        object.setToOne(destination?.objectID, at: index)
        guard former != destination?.objectID, let inverse = relationship.inverse else { return }
        if let former { try detach(self.object(former), inverse, from: object) }
        if let destination { try attach(destination, inverse, to: object, relationship.name) }
    }

    func setMembers(of object: ManagedObject, _ index: Int, to given: [ManagedObject]) throws {
        var seen: Set<ManagedObject> = []
        let destinations = given.filter { seen.insert($0).inserted }
        let wanted = Set(destinations.map(\.objectID))
        let present = try members(of: object, index)
        for id in present where !wanted.contains(id) { try remove(self.object(id), from: object, index) }
        let known = Set(present)
        for destination in destinations where !known.contains(destination.objectID) {
            try add(destination, to: object, index)
        }
        guard object.shape.toManys[index].isOrdered else { return }
        try markChanged(object)
        object.ownValues().toManys[index, default: ToManyValue()].arrange(destinations.map(\.objectID))
    }

    func add(_ destination: ManagedObject, to object: ManagedObject, _ index: Int) throws {
        let inverse = object.shape.toManys[index].inverse
        if case .toOne(let back)? = inverse.flatMap(destination.shape.property) {
            return try setToOne(destination, back, object)
        }
        guard try !members(of: object, index).contains(destination.objectID) else { return try markChanged(object) }
        try change(object, index) { $0.add(destination.objectID, isOrdered: $1) }
        if case .toMany(let back)? = inverse.flatMap(destination.shape.property) {
            guard destination !== object || back != index else { return }
            try change(destination, back) { $0.add(object.objectID, isOrdered: $1) }
        }
    }

    func remove(_ destination: ManagedObject, from object: ManagedObject, _ index: Int) throws {
        guard try members(of: object, index).contains(destination.objectID) else { return }
        let inverse = object.shape.toManys[index].inverse
        if case .toOne(let back)? = inverse.flatMap(destination.shape.property) {
            return try setToOne(destination, back, nil)
        }
        try take(destination, from: object, index)
        if case .toMany(let back)? = inverse.flatMap(destination.shape.property) {
            guard destination !== object || back != index else { return }
            try take(object, from: destination, back)
        }
    }

    /// Removes `object` from the inverse relationship of a former destination.
    func detach(_ target: ManagedObject, _ inverse: String, from object: ManagedObject) throws {
        guard target.status.isDisjoint(with: [.deleted, .gone]) else { return }
        switch target.shape.property(inverse) {
        case .toMany(let index): try take(object, from: target, index)
        case .toOne:
            // Its row may have a subentity of the ID's entity, with the relationship at another index.
            guard try fireIfPresent(target), !target.isDeleted,
                case .toOne(let index)? = target.shape.property(inverse),
                target.toOne(index) == object.objectID
            else { return }
            try willChange(target)
            target.setToOne(nil, at: index)
        case .attribute, nil: break
        }
    }

    /// Reads a fault's values; false if its row is gone.
    func fireIfPresent(_ object: ManagedObject) throws -> Bool {
        do {
            try fire(object)
            return true
        } catch let error as ManagedObjectError where error.code == .objectIsGone {
            return false
        }
    }

    private func attach(_ target: ManagedObject, _ inverse: String, to object: ManagedObject, _ name: String) throws {
        switch target.shape.property(inverse) {
        case .toMany(let index): try change(target, index) { $0.add(object.objectID, isOrdered: $1) }
        case .toOne:
            try willChange(target)
            guard case .toOne(let index)? = target.shape.property(inverse) else { return }
            let displaced = target.toOne(index)
            target.setToOne(object.objectID, at: index)
            if let displaced, displaced != object.objectID { try detach(self.object(displaced), name, from: target) }
        case .attribute, nil: break
        }
    }

    /// Removes a cached member.
    ///
    /// It may be absent already: delete rules run once more after a merge of another context's save.
    private func take(_ member: ManagedObject, from object: ManagedObject, _ index: Int) throws {
        let isSaved = !object.isInserted && !member.isInserted
        try change(object, index) { value, _ in value.remove(member.objectID, isSaved: isSaved) }
    }

    /// Changes the cached members of a to-many relationship; the argument of `body` is whether it is ordered.
    private func change(_ object: ManagedObject, _ index: Int, _ body: (inout ToManyValue, Bool) -> Void) throws {
        try markChanged(object)
        body(&object.ownValues().toManys[index, default: ToManyValue()], object.shape.toManys[index].isOrdered)
    }
}

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
            if object.order == 0 { object.ownValues().order = nextOrder() }
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
            return object.toOne(index).map { [$0] } ?? []
        case .toMany(let index): return try members(of: object, index)
        }
    }
}
