internal import StoreFormat

extension ObjectGraph {
    /// Refuses objects that the model does not allow; of those that were there before, only what was changed is looked at.
    func validate() throws {
        var errors: [ManagedObjectError] = []
        for object in inserted { errors += try violations(object, object.shape.allProperties) }
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

    private func violations(
        _ object: ManagedObject,
        _ properties: [ObjectShape.Property]
    ) throws -> [ManagedObjectError] {
        var result: [ManagedObjectError] = []
        func report(_ code: ManagedObjectError.Code, _ name: String, _ problem: String) {
            result.append(
                ManagedObjectError(code, "\(object.shape.name).\(name) \(problem)", objectIDs: [object.objectID])
            )
        }
        for property in properties {
            switch property {
            case .attribute(let index):
                let attribute = object.shape.attributes[index]
                guard !attribute.isOptional, !attribute.isTransient, !attribute.isDerived else { continue }
                if object.attributes[index].isNull {
                    report(.missingMandatoryProperty, attribute.name, "must have a value")
                }
            case .toOne(let index):
                let relationship = object.shape.toOnes[index]
                guard !relationship.isOptional, !relationship.isTransient, object.toOnes[index] == nil else { continue }
                report(.missingMandatoryProperty, relationship.name, "must lead to an object")
            case .toMany(let index):
                let relationship = object.shape.toManys[index]
                guard !relationship.isTransient, relationship.minCount > 0 || relationship.maxCount > 0 else {
                    continue
                }
                let count = try members(of: object, index).count
                if count < relationship.minCount, count > 0 || !relationship.isOptional {
                    report(.relationshipLacksMinimumCount, relationship.name, "leads to too few objects")
                }
                if relationship.maxCount > 0, count > relationship.maxCount {
                    report(.relationshipExceedsMaximumCount, relationship.name, "leads to too many objects")
                }
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
                "\(object.shape.name).\(relationship.name) denies the deletion of an object that it leads from",
                objectIDs: [object.objectID]
            )
        }
    }
}

extension ObjectShape {
    fileprivate var allProperties: [Property] { attributes.indices.map(Property.attribute) + relationshipProperties }
}
