import StoreFormat

/// A class to write: an entity with Swift names and types.
struct GeneratedClass {
    struct Property {
        /// The kind of accessor, with the label of the runtime's subscript.
        enum Kind: String {
            case attribute
            case mandatory
            case rawValue
            case mandatoryRawValue
            case toOne
            case toMany
            case ordered
            case fetched
        }

        /// The name in Swift, without backticks.
        let name: String
        /// The name in the model.
        let modelName: String
        let kind: Kind
        let type: String
        var isReadOnly = false
        /// The predicate of a fetched property.
        var predicate: String?
        /// Sentences on the property.
        let comments: [String]
    }

    let name: String
    let entity: String
    /// The class of the parent entity.
    let parent: String?
    let properties: [Property]
    let comments: [String]
}

/// Gives the entities of a model classes.
struct ClassNaming {
    let model: ManagedObjectModel
    let annotations: ModelAnnotations
    private let classNames: [String: String]

    init(_ model: ManagedObjectModel, _ annotations: ModelAnnotations) {
        self.model = model
        self.annotations = annotations
        var taken: Set<String> = []
        var names: [String: String] = [:]
        for entity in model.entities { names[entity.name] = SwiftName.type(entity.name, taken: &taken) }
        classNames = names
    }

    /// The classes in the order of the entities' names.
    var classes: [GeneratedClass] {
        // The names of properties by entity: a class must not have one of its parents again.
        var taken: [String: Set<String>] = [:]
        var result: [String: GeneratedClass] = [:]
        for entity in model.entities.sorted(by: { depth(of: $0) < depth(of: $1) }) {
            let parent = parent(of: entity)
            // A property named like a class would hide it inside its own class.
            var names = parent.flatMap { taken[$0] } ?? Set(classNames.values)
            result[entity.name] = generatedClass(entity, parent, taken: &names)
            taken[entity.name] = names
        }
        return model.entities.compactMap { result[$0.name] }
    }

    private func depth(of entity: EntityDescription) -> Int { ancestors(of: entity).count }

    /// The ancestors, the nearest first; in a malformed model a missing parent or a cycle ends the list.
    private func ancestors(of entity: EntityDescription) -> [EntityDescription] {
        var result: [EntityDescription] = []
        var seen: Set<String> = [entity.name]
        var next = entity.superentity
        while let name = next, let ancestor = model.entitiesByName[name] {
            // All entities of a cycle are roots.
            guard seen.insert(name).inserted else { return name == entity.name ? [] : result }
            result.append(ancestor)
            next = ancestor.superentity
        }
        return result
    }

    private func parent(of entity: EntityDescription) -> String? { ancestors(of: entity).first?.name }

    private func generatedClass(
        _ entity: EntityDescription,
        _ parent: String?,
        taken: inout Set<String>
    ) -> GeneratedClass {
        let annotated = annotations.entities[entity.name]
        let inherited = Set(ancestors(of: entity).flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
        var properties: [GeneratedClass.Property] = []
        for attribute in entity.attributes where !inherited.contains(attribute.name) {
            let name = SwiftName.property(attribute.name, taken: &taken)
            properties.append(property(attribute, name, annotated?.properties[attribute.name]))
        }
        for relationship in entity.relationships where !inherited.contains(relationship.name) {
            let name = SwiftName.property(relationship.name, taken: &taken)
            properties.append(property(relationship, name, annotated?.properties[relationship.name]))
        }
        for fetched in annotated?.fetchedProperties ?? [] {
            guard let destination = classNames[fetched.destination] else { continue }
            properties.append(
                GeneratedClass.Property(
                    name: SwiftName.property(fetched.name, taken: &taken),
                    modelName: fetched.name,
                    kind: .fetched,
                    type: destination,
                    predicate: fetched.predicate,
                    comments: comments(annotated?.properties[fetched.name], [])
                )
            )
        }
        var facts = entity.isAbstract ? ["Abstract: each object belongs to a subclass."] : []
        facts += entity.uniquenessConstraints.map { "Unique: \($0.map { "`\($0)`" }.joined(separator: ", "))." }
        return GeneratedClass(
            name: classNames[entity.name] ?? entity.name,
            entity: entity.name,
            parent: parent.flatMap { classNames[$0] },
            properties: properties,
            comments: comments(annotated?.element, facts)
        )
    }

    // MARK: Properties

    private func property(
        _ attribute: AttributeDescription,
        _ name: String,
        _ annotation: ModelAnnotations.Element?
    ) -> GeneratedClass.Property {
        var facts: [String] = []
        if attribute.isTransient { facts.append("Transient: requests cannot name it.") }
        if attribute.isDerived {
            facts.append(
                attribute.derivationExpression.map { "Derived by the store: `\($0)`." } ?? "Derived by the store."
            )
        }
        if attribute.allowsExternalBinaryDataStorage { facts.append("A large value is stored in a file of its own.") }
        let comments = comments(annotation, facts)
        // Derived values exist only after a save.
        let isOptional = attribute.isOptional || attribute.isDerived
        if let enumeration = annotation?.enumeration, SwiftName.isEnumeration(enumeration) {
            return GeneratedClass.Property(
                name: name,
                modelName: attribute.name,
                kind: isOptional ? .rawValue : .mandatoryRawValue,
                type: enumeration + (isOptional ? "?" : ""),
                isReadOnly: attribute.isDerived,
                comments: comments
            )
        }
        let type = attribute.type.swiftName
        // An attribute value can be null itself.
        let hasOptionalType = isOptional && (type != "AttributeValue" || attribute.isDerived)
        return GeneratedClass.Property(
            name: name,
            modelName: attribute.name,
            kind: hasOptionalType ? .attribute : .mandatory,
            type: hasOptionalType ? type + "?" : type,
            isReadOnly: attribute.isDerived,
            comments: comments
        )
    }

    private func property(
        _ relationship: RelationshipDescription,
        _ name: String,
        _ annotation: ModelAnnotations.Element?
    ) -> GeneratedClass.Property {
        let destination = classNames[relationship.destination] ?? "ManagedObject"
        let kind: GeneratedClass.Property.Kind =
            relationship.isToMany ? (relationship.isOrdered ? .ordered : .toMany) : .toOne
        let type =
            switch kind {
            case .ordered: "[\(destination)]"
            case .toMany: "Set<\(destination)>"
            default: destination + "?"
            }
        var facts: [String] = []
        if relationship.isTransient { facts.append("Transient: requests cannot name it.") }
        switch relationship.deleteRule {
        case .cascade: facts.append("Deleting this object deletes \(relationship.isToMany ? "them" : "it").")
        case .deny: facts.append("While there is one, this object cannot be deleted.")
        case .nullify, .noAction: break
        }
        return GeneratedClass.Property(
            name: name,
            modelName: relationship.name,
            kind: kind,
            type: type,
            comments: comments(annotation, facts)
        )
    }

    /// The model's own text, then what follows from the description.
    private func comments(_ annotation: ModelAnnotations.Element?, _ facts: [String]) -> [String] {
        (annotation?.comment.map(SwiftName.commentLines) ?? []) + facts.flatMap(SwiftName.commentLines)
    }
}

extension AttributeDescription.AttributeType {
    /// The Swift type of a value.
    fileprivate var swiftName: String {
        switch self {
        case .integer16: "Int16"
        case .integer32: "Int32"
        case .integer64: "Int64"
        case .decimal: "Decimal"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .boolean: "Bool"
        case .date: "Date"
        // The archive that a value transformer produced, as in the store.
        case .binaryData, .transformable: "Data"
        case .uuid: "UUID"
        case .uri: "URL"
        case .undefined, .objectID, .composite: "AttributeValue"
        }
    }
}
