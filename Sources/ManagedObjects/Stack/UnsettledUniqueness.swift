internal import ChangeMerging
internal import StoreFormat

/// A uniqueness constraint that refused a save, for the merge policy to settle before the next attempt.
struct UnsettledUniqueness: Error {
    let object: ManagedObjectID
    let constraint: [String]
    let holder: ManagedObjectID?

    /// The request as the policy changes it; throws where the policy is to fail.
    func settled(_ request: SaveRequest, in store: AttachedStore, model: ModelShape) throws -> SaveRequest {
        var result = request
        guard let holder, !constraint.isEmpty else { throw failure }
        if let index = request.insertions.firstIndex(where: { $0.id == object }) {
            let (values, given) = (request.insertions[index].values, request.insertions[index].given)
            let merge = UniquenessMerge(
                constraint: constraint,
                base: nil,
                given: values.filter { given.contains($0.key) },
                values: values
            )
            switch merge.outcome(by: request.policy) {
            case .fail, .revert, .deleteOther: throw failure
            case .discard: result.insertions.remove(at: index)
            case .give(let values):
                result.insertions.remove(at: index)
                try give(values, to: holder, &result, store)
            }
            result.replace(object, by: holder)
        } else if let index = request.updates.firstIndex(where: { $0.id == object }) {
            let update = request.updates[index]
            let merge = UniquenessMerge(
                constraint: constraint,
                base: update.base.values(of: try model.entity(update.id.entityName)),
                given: update.values,
                values: update.values
            )
            switch merge.outcome(by: request.policy) {
            case .fail, .discard, .give: throw failure
            case .revert(let values): result.updates[index].values.merge(values) { $1 }
            case .deleteOther: result.precedingDeletions.append(holder)
            }
        } else {
            throw failure
        }
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
    /// Puts one object in the place of another that will not be inserted.
    fileprivate mutating func replace(_ object: ManagedObjectID, by holder: ManagedObjectID) {
        standIns[object] = holder
        func renamed(_ values: [String: PropertyValue]) -> [String: PropertyValue] {
            values.mapValues { $0 == .object(object) ? .object(holder) : $0 }
        }
        for index in insertions.indices { insertions[index].replace(object, by: holder) }
        for index in updates.indices { updates[index].values = renamed(updates[index].values) }
        for index in links.indices {
            if links[index].owner == object { links[index].owner = holder }
            links[index].added = links[index].added.map { $0 == object ? holder : $0 }
            links[index].removed = links[index].removed.map { $0 == object ? holder : $0 }
            links[index].order = links[index].order?.map { $0 == object ? holder : $0 }
        }
    }
}
