internal import StoreFormat

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
        for index in shape.mandatoryAttributes where concerns(.attribute(index)) && object.attributes[index].isNull {
            report(.missingMandatoryProperty, shape.attributes[index].name, "must have a value")
        }
        for index in shape.mandatoryToOnes where concerns(.toOne(index)) && object.toOnes[index] == nil {
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
