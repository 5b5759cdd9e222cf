import StoreFormat

extension MappingInference {
    // MARK: Attributes

    mutating func mapAttributes(
        of entity: EntityDescription,
        _ former: EntityDescription?,
        _ known: PropertyIndex
    ) -> [EntityMapping.Attribute] {
        var result: [EntityMapping.Attribute] = []
        for ancestor in target.lineage(of: entity.name) {
            for attribute in ancestor.attributes where !attribute.isTransient {
                let match = known.attributes[attribute.canonicalName]
                if match == nil, known.relationships[attribute.canonicalName] != nil {
                    refuseKind(entity.name, attribute.name, "a relationship becomes an attribute")
                }
                if let match {
                    noteMove(.attributeMoved, attribute.name, to: ancestor.name, from: match.declaredBy)
                    compare(attribute, match.attribute, declaredBy: ancestor.name, of: entity.name)
                } else {
                    add(attribute, declaredBy: ancestor.name, of: entity.name, isNewEntity: former == nil)
                }
                result.append(EntityMapping.Attribute(target: attribute, source: match?.attribute))
            }
        }
        return result
    }

    private mutating func add(
        _ attribute: AttributeDescription,
        declaredBy ancestor: String,
        of entity: String,
        isNewEntity: Bool
    ) {
        guard !isNewEntity else { return }
        note(.attributeAdded, ancestor == entity || sources[ancestor] != nil ? ancestor : entity, attribute.name)
        if attribute.needsValue { require(.value(entity: entity, attribute: attribute.name)) }
    }

    private mutating func compare(
        _ attribute: AttributeDescription,
        _ former: AttributeDescription,
        declaredBy ancestor: String,
        of entity: String
    ) {
        if former.name != attribute.name { note(.attributeRenamed, ancestor, attribute.name, former: former.name) }
        if former.type != attribute.type {
            if former.type.widens(to: attribute.type) {
                note(.attributeWidened, ancestor, attribute.name, former: former.type.word)
            } else {
                refuse(
                    .attributeType,
                    entity: ancestor,
                    property: attribute.name,
                    "its type changes from \(former.type.word) to \(attribute.type.word)",
                    remedy: "Add an attribute with another name for the new type, and convert the values in the app."
                )
            }
        }
        if former.isOptional != attribute.isOptional {
            note(attribute.isOptional ? .attributeMadeOptional : .attributeMadeRequired, ancestor, attribute.name)
            if attribute.needsValue { require(.value(entity: entity, attribute: attribute.name)) }
        }
        if former.allowsExternalBinaryDataStorage != attribute.allowsExternalBinaryDataStorage {
            note(
                attribute.allowsExternalBinaryDataStorage ? .externalStorageEnabled : .externalStorageDisabled,
                ancestor,
                attribute.name
            )
        }
        if former.isDerived != attribute.isDerived || former.derivationExpression != attribute.derivationExpression {
            note(.derivationChanged, ancestor, attribute.name, former: former.derivationExpression)
        }
        if former.versionHashModifier != attribute.versionHashModifier {
            note(.versionHashModifierChanged, ancestor, attribute.name, former: former.versionHashModifier)
        }
    }

    /// Notes that a property was declared by another entity.
    private mutating func noteMove(
        _ kind: MappingChange.Kind,
        _ property: String,
        to ancestor: String,
        from declaring: String
    ) {
        guard targets[declaring] != ancestor else { return }
        note(kind, ancestor, property, former: declaring)
    }

    private mutating func refuseKind(_ entity: String, _ property: String, _ reason: String) {
        refuse(
            .propertyKind,
            entity: entity,
            property: property,
            reason,
            remedy: "Give the new property another name, and convert the values in the app."
        )
    }

    // MARK: Relationships

    mutating func mapRelationships(
        of entity: EntityDescription,
        _ former: EntityDescription?,
        _ known: PropertyIndex
    ) -> [EntityMapping.Relationship] {
        var result: [EntityMapping.Relationship] = []
        for ancestor in target.lineage(of: entity.name) {
            for relationship in ancestor.relationships where !relationship.isTransient {
                let match = known.relationships[relationship.canonicalName]
                if match == nil, known.attributes[relationship.canonicalName] != nil {
                    refuseKind(entity.name, relationship.name, "an attribute becomes a relationship")
                }
                if let match {
                    noteMove(.relationshipMoved, relationship.name, to: ancestor.name, from: match.declaredBy)
                    compare(relationship, match.relationship, declaredBy: ancestor.name, of: entity.name)
                } else if former != nil {
                    let owner =
                        ancestor.name == entity.name || sources[ancestor.name] != nil ? ancestor.name : entity.name
                    note(.relationshipAdded, owner, relationship.name)
                    if relationship.isMandatory {
                        require(.destination(entity: entity.name, relationship: relationship.name))
                    }
                }
                result.append(EntityMapping.Relationship(target: relationship, source: match?.relationship))
            }
        }
        return result
    }

    private mutating func compare(
        _ relationship: RelationshipDescription,
        _ former: RelationshipDescription,
        declaredBy ancestor: String,
        of entity: String
    ) {
        let name = relationship.name
        if former.name != name { note(.relationshipRenamed, ancestor, name, former: former.name) }
        if relationship.isToMany, !former.isToMany { note(.relationshipMadeToMany, ancestor, name) }
        if !relationship.isToMany, former.isToMany {
            refuse(
                .toManyToToOne,
                entity: ancestor,
                property: name,
                "it refers to many objects and may now refer to one only",
                remedy: "Add a to-one relationship with another name, and choose the destination in the app."
            )
        }
        if relationship.isToMany, relationship.isOrdered != former.isOrdered || former.isToMany != relationship.isToMany
        {
            if relationship.isOrdered { note(.relationshipMadeOrdered, ancestor, name) }
            if former.isOrdered && !relationship.isOrdered { note(.relationshipMadeUnordered, ancestor, name) }
        }
        compareDestination(relationship, former, ancestor)
        compareInverse(relationship, former, ancestor)
        if relationship.isMandatory, !former.isMandatory {
            require(.destination(entity: entity, relationship: name))
        }
        if former.versionHashModifier != relationship.versionHashModifier {
            note(.versionHashModifierChanged, ancestor, name, former: former.versionHashModifier)
        }
    }

    /// The destination must include every object that the relationship could refer to.
    private mutating func compareDestination(
        _ relationship: RelationshipDescription,
        _ former: RelationshipDescription,
        _ entity: String
    ) {
        // Objects of removed entities disappear, so only the surviving ones need a place.
        let inclusion = includesSurvivors(of: former.destination, in: relationship.destination)
        // An entity that leaves the destination's tree also loses the inverse, which is a removal of that property.
        if targets[former.destination] == relationship.destination,
            inclusion != .partial || relationship.inverse != nil
        {
            return
        }
        guard inclusion == .all else {
            refuse(
                .relationshipDestination,
                entity: entity,
                property: relationship.name,
                "objects of \(former.destination) could be its destination, and not all are a \(relationship.destination)",
                remedy: "Give the relationship to \(relationship.destination) another name."
            )
            return
        }
        note(.destinationChanged, entity, relationship.name, former: former.destination)
    }

    private mutating func compareInverse(
        _ relationship: RelationshipDescription,
        _ former: RelationshipDescription,
        _ entity: String
    ) {
        let before = former.inverse.flatMap {
            source.relationship($0, of: former.destination)?.relationship.canonicalName
        }
        let now = relationship.inverse
            .flatMap { target.relationship($0, of: relationship.destination)?.relationship.canonicalName }
        guard before != now else { return }
        if before != nil, now != nil {
            refuse(
                .relationshipInverse,
                entity: entity,
                property: relationship.name,
                "its inverse changes from \(former.inverse ?? "") to \(relationship.inverse ?? "")",
                remedy: "Give the inverse the renaming identifier \(before ?? "")."
            )
        } else if relationship.isToMany, now == nil, isManyToMany(former, source) {
            refuse(
                .relationshipInverse,
                entity: entity,
                property: relationship.name,
                "it has no inverse any more, so an object could belong to one owner only",
                remedy: "Keep the inverse \(former.inverse ?? "")."
            )
        } else {
            note(.inverseChanged, entity, relationship.name, former: former.inverse)
        }
    }

    private func isManyToMany(_ relationship: RelationshipDescription, _ model: ManagedObjectModel) -> Bool {
        guard relationship.isToMany, let inverse = relationship.inverse else { return false }
        return model.relationship(inverse, of: relationship.destination)?.relationship.isToMany ?? false
    }
}

extension AttributeDescription {
    /// True for an attribute that rows without a value violate: it is mandatory, and nothing gives it a value.
    var needsValue: Bool { !isOptional && !isDerived && initialValue.isNull }
}

extension AttributeDescription.AttributeType {
    /// True if every value of this type is one of the wider type, stored in the same form.
    func widens(to other: Self) -> Bool {
        switch (self, other) {
        case (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64): true
        default: false
        }
    }

    /// The name of the type in messages, as a model editor shows it.
    var word: String {
        switch self {
        case .undefined: "Undefined"
        case .integer16: "Integer 16"
        case .integer32: "Integer 32"
        case .integer64: "Integer 64"
        case .decimal: "Decimal"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .boolean: "Boolean"
        case .date: "Date"
        case .binaryData: "Binary Data"
        case .uuid: "UUID"
        case .uri: "URI"
        case .transformable: "Transformable"
        case .objectID: "Object ID"
        case .composite: "Composite"
        }
    }
}

extension RelationshipDescription {
    /// True if every object needs a destination; a to-many may be empty unless it has a minimum.
    var isMandatory: Bool { !isOptional && !isTransient && (!isToMany || minCount > 0) }
}
