internal import StoreFormat

/// Inverse maintenance: setting one side of a relationship sets the other.
extension ObjectGraph {
    func setToOne(_ object: ManagedObject, _ index: Int, _ destination: ManagedObject?) throws {
        try willChange(object)
        let relationship = object.shape.toOnes[index]
        let former = object.toOnes[index]
        object.toOnes[index] = destination?.objectID
        object.changed.insert(.toOne(index))
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
        object.toManys[index, default: ToManyValue()].arrange(destinations.map(\.objectID))
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
            try fire(target)
            guard !target.isDeleted, case .toOne(let index)? = target.shape.property(inverse),
                target.toOnes[index] == object.objectID
            else { return }
            try willChange(target)
            target.toOnes[index] = nil
            target.changed.insert(.toOne(index))
        case .attribute, nil: break
        }
    }

    private func attach(_ target: ManagedObject, _ inverse: String, to object: ManagedObject, _ name: String) throws {
        switch target.shape.property(inverse) {
        case .toMany(let index): try change(target, index) { $0.add(object.objectID, isOrdered: $1) }
        case .toOne:
            try willChange(target)
            guard case .toOne(let index)? = target.shape.property(inverse) else { return }
            let displaced = target.toOnes[index]
            target.toOnes[index] = object.objectID
            target.changed.insert(.toOne(index))
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
        body(&object.toManys[index, default: ToManyValue()], object.shape.toManys[index].isOrdered)
    }
}
