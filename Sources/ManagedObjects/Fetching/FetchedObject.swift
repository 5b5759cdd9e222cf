internal import StoreFormat

/// One object as a store has it, read without a context.
public struct FetchedObject: Sendable {
    /// A property and what it holds.
    public struct Property: Hashable, Sendable {
        public let name: String
        /// A value, or the object that a to-one relationship leads to.
        public let value: PredicateConstant
    }

    /// Names the object's own entity, which may inherit from the one that was asked for.
    public let objectID: ManagedObjectID
    /// The attributes that the store keeps, then the to-one relationships, each in the order of their names.
    public let properties: [Property]

    init(_ row: RowSnapshot, _ shape: ObjectShape) {
        objectID = row.id
        var attributes: [Property] = []
        for (attribute, value) in zip(shape.attributes, row.attributes) where !attribute.isTransient {
            attributes.append(Property(name: attribute.name, value: .value(value)))
        }
        var toOnes: [Property] = []
        for (relationship, id) in zip(shape.toOnes, row.toOnes) where !relationship.isTransient {
            toOnes.append(Property(name: relationship.name, value: id.map(PredicateConstant.object) ?? .value(.null)))
        }
        properties = [attributes, toOnes]
            .flatMap { $0.sorted { ManagedObjectModel.inByteOrder($0.name, $1.name) } }
    }
}
