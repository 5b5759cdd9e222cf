import ManagedObjects
import StoreFormat
import StoreVerification

/// Makes a probe's changes in a context.
enum ProbeEditor {
    /// Why an object cannot be made.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// How many members of a many-to-many relationship a new object gets from its template.
    private static let members = 2
    /// The maximum length of a chain of objects that require each other.
    private static let greatestDepth = 6
    /// The maximum number of objects that are made for one object.
    private static let mostCompanions = 100

    /// Makes one change without saving it.
    static func carryOut(
        _ edit: ProbeStep.Edit,
        _ operation: ProbeStep.Operation,
        in context: isolated ManagedObjectContext
    ) throws -> ManagedObject {
        let given = try edit.object.map { try object($0, in: context) }
        switch operation {
        case .insert:
            let object = try context.insertNewObject(forEntityName: edit.entity)
            var room = mostCompanions
            try fill(object, like: given, mark: edit.mark, room: &room, in: context)
            try mark(object, edit)
            return object
        case .update, .match:
            let object = try given.orRefuse("no object of \(edit.entity) was given")
            try mark(object, edit)
            return object
        case .delete:
            let object = try given.orRefuse("no object of \(edit.entity) was given")
            try context.delete(object)
            return object
        }
    }

    /// The URIs of an object's destinations, by relationship.
    static func destinations(of object: ManagedObject) throws -> [String: [String]] {
        var result: [String: [String]] = [:]
        for relationship in object.shape.toOnes + object.shape.toManys where !relationship.isTransient {
            let ids = try object.objectIDs(forRelationshipNamed: relationship.name)
            if !ids.isEmpty { result[relationship.name] = ids.map { $0.uriRepresentation() } }
        }
        return result
    }

    private static func object(_ uri: String, in context: isolated ManagedObjectContext) throws -> ManagedObject {
        let id = context.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri)
        return try context.existingObject(with: id.orRefuse("\(uri) is not an object of the store"))
    }

    private static func mark(_ object: ManagedObject, _ edit: ProbeStep.Edit) throws {
        guard let name = edit.attribute, case .attribute(let index)? = object.shape.property(name),
            let value = ProbeMark.value(edit.mark, of: object.shape.attributes[index].type)
        else { return }
        try object.setValue(value, forKey: name)
    }

    // MARK: New objects

    /// Gives a new object the values that saving requires, and makes the objects that it alone requires.
    private static func fill(
        _ object: ManagedObject,
        like template: ManagedObject?,
        mark: Int,
        depth: Int = 0,
        room: inout Int,
        in context: isolated ManagedObjectContext
    ) throws {
        guard depth < greatestDepth else { throw Refusal(description: "\(object.shape.name) needs too many others") }
        let unique = Set(object.shape.uniquenessConstraints.joined())
        for attribute in object.shape.attributes where !attribute.isTransient && !attribute.isDerived {
            var value = try template?.rawValue(forKey: attribute.name) ?? .null
            if unique.contains(attribute.name) { value = ProbeMark.value(mark, of: attribute.type) ?? value }
            if value.isNull, !attribute.isOptional, try object.rawValue(forKey: attribute.name).isNull {
                let made = ProbeMark.value(mark, of: attribute.type)
                value = try made.orRefuse(
                    "\(object.shape.name).\(attribute.name) needs a value that cannot be generated"
                )
            }
            if !value.isNull { try object.setValue(value, forKey: attribute.name) }
        }
        for relationship in object.shape.toOnes + object.shape.toManys where !relationship.isTransient {
            // The object that required it refers to it already.
            guard try object.objectIDs(forRelationshipNamed: relationship.name).isEmpty else { continue }
            let needed = relationship.isOptional ? 0 : max(1, relationship.minCount)
            guard needed <= room else { throw Refusal(description: "\(object.shape.name) needs too many others") }
            let given = try template.map { try destinations(of: $0, relationship) } ?? []
            if isShared(relationship, in: context) {
                for destination in given.prefix(max(relationship.isToMany ? members : 1, needed)) {
                    try connect(object, relationship, to: destination)
                }
                if !given.isEmpty { continue }
            }
            // The template's destinations must not be shared.
            room -= needed
            for number in 0..<needed {
                let companion = try context.insertNewObject(
                    forEntityName: entity(for: relationship, like: given.first, in: context)
                )
                try connect(object, relationship, to: companion)
                // The marks of one step are close together; those of companions are far from all of them.
                let mark = mark + 1_000 * (depth + 1) + number
                try fill(companion, like: given.first, mark: mark, depth: depth + 1, room: &room, in: context)
            }
        }
    }

    private static func destinations(
        of object: ManagedObject,
        _ relationship: RelationshipDescription
    ) throws -> [ManagedObject] {
        if relationship.isToMany { return try object.objects(forKey: relationship.name) }
        return try object.object(forKey: relationship.name).map { [$0] } ?? []
    }

    private static func connect(
        _ object: ManagedObject,
        _ relationship: RelationshipDescription,
        to destination: ManagedObject
    ) throws {
        if relationship.isToMany {
            try object.add(destination, toKey: relationship.name)
        } else {
            try object.setObject(destination, forKey: relationship.name)
        }
    }

    /// The concrete entity of an object that is made for a relationship.
    private static func entity(
        for relationship: RelationshipDescription,
        like example: ManagedObject?,
        in context: isolated ManagedObjectContext
    ) throws -> String {
        if let example { return example.shape.name }
        let model = context.persistentStoreCoordinator.managedObjectModel
        let able = model?.entitiesByName.values
            .filter {
                !$0.isAbstract && model?.isEntity($0.name, kindOf: relationship.destination) == true
            }
        let name = able?.map(\.name).min(by: ManagedObjectModel.inByteOrder)
        return try name.orRefuse("\(relationship.destination) is abstract, and has no entity below it")
    }

    /// True when several objects may have the same destination.
    private static func isShared(
        _ relationship: RelationshipDescription,
        in context: isolated ManagedObjectContext
    ) -> Bool {
        guard let name = relationship.inverse, let model = context.persistentStoreCoordinator.managedObjectModel else {
            return true
        }
        let inverse = model.lineage(of: relationship.destination).flatMap(\.relationships).first { $0.name == name }
        return inverse?.isToMany ?? true
    }
}

extension Optional {
    /// The value, or a refusal that says what is missing.
    fileprivate func orRefuse(_ reason: @autoclosure () -> String) throws -> Wrapped {
        guard let self else { throw ProbeEditor.Refusal(description: reason()) }
        return self
    }
}
