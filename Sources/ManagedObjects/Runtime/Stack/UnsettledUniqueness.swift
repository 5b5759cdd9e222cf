internal import ChangeMerging

/// A violated uniqueness constraint, which the merge policy settles before the next attempt.
struct UnsettledUniqueness: Error {
    let object: ManagedObjectID
    let constraint: [String]
    let holder: ManagedObjectID?

    /// The request after applying the policy; throws if the policy fails.
    func settled(_ request: SaveRequest, in store: AttachedStore, model: ModelShape) throws -> SaveRequest {
        guard let holder, !constraint.isEmpty else { throw failure }
        if let index = request.insertions.firstIndex(where: { $0.id == object }) {
            return try settled(request, request.insertions[index], besides: holder, in: store, model)
        }
        guard let index = request.updates.firstIndex(where: { $0.id == object }) else { throw failure }
        // A new and an existing object want the same values: the existing row keeps its key, whichever came first.
        if let other = request.insertions.first(where: { $0.id == holder }) {
            return try settled(request, other, besides: object, in: store, model)
        }
        let update = request.updates[index]
        guard let base = update.base else { throw failure }
        let merge = UniquenessMerge(
            constraint: constraint,
            base: base.values(of: try model.entity(base.id.entityName)),
            given: update.values,
            values: update.values
        )
        var result = request
        switch merge.outcome(by: request.policy) {
        case .fail, .discard, .give: throw failure
        case .revert(let values): result.updates[index].values.merge(values) { $1 }
        case .deleteOther:
            result.supplanted.append((loser: holder, winner: object))
            result.replace(holder, by: object)
        }
        return result
    }

    /// Settles a conflict of a new object, from which every policy keeps at most the values.
    private func settled(
        _ request: SaveRequest,
        _ insertion: SaveRequest.Insertion,
        besides holder: ManagedObjectID,
        in store: AttachedStore,
        _ model: ModelShape
    ) throws -> SaveRequest {
        let (values, given) = (insertion.values, insertion.given)
        let merge = UniquenessMerge(
            constraint: constraint,
            base: nil,
            given: values.filter { given.contains($0.key) },
            values: values
        )
        var result = request
        result.insertions.removeAll { $0.id == insertion.id }
        switch merge.outcome(by: request.policy) {
        case .fail, .revert, .deleteOther: throw failure
        case .discard: break
        case .give(let values):
            let shape = try model.entity(holder.entityName)
            try give(values.filter { shape.property($0.key) != nil }, to: holder, &result, store)
        }
        result.replace(insertion.id, by: holder)
        result.standIns[insertion.id] = holder
        return result
    }

    private var failure: SaveConstraintConflict {
        SaveConstraintConflict(
            objectID: object,
            constraint: constraint,
            databaseObjectID: holder.flatMap { $0.isTemporaryID ? nil : $0 }
        )
    }

    private func give(
        _ values: [String: PropertyValue],
        to holder: ManagedObjectID,
        _ request: inout SaveRequest,
        _ store: AttachedStore
    ) throws {
        if let index = request.insertions.firstIndex(where: { $0.id == holder }) {
            request.insertions[index].values.merge(values) { $1 }
        } else if let index = request.updates.firstIndex(where: { $0.id == holder }) {
            request.updates[index].values.merge(values) { $1 }
        } else if let base = try store.rows(of: [holder]).first {
            request.updates.append(SaveRequest.Update(id: holder, base: base, values: values))
        }
    }
}

extension SaveRequest {
    /// Replaces all references to an object by another object.
    fileprivate mutating func replace(_ object: ManagedObjectID, by holder: ManagedObjectID) {
        func renamed(_ values: [String: PropertyValue]) -> [String: PropertyValue] {
            values.mapValues { $0 == .object(object) ? .object(holder) : $0 }
        }
        for index in insertions.indices { insertions[index].replace(object, by: holder) }
        for index in updates.indices { updates[index].values = renamed(updates[index].values) }
        for index in links.indices {
            if links[index].owner == object { links[index].owner = holder }
            links[index].added = links[index].added.map { $0 == object ? holder : $0 }
            links[index].removed = links[index].removed.map { $0 == object ? holder : $0 }
            links[index].base = links[index].base.map { $0 == object ? holder : $0 }
            links[index].order = links[index].order?.map { $0 == object ? holder : $0 }
        }
    }
}
