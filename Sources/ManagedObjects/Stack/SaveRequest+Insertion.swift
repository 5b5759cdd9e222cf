internal import StoreFormat

extension SaveRequest {
    /// A new object, with its values in arrays by index, because there may be very many.
    struct Insertion: Sendable {
        var id: ManagedObjectID
        let shape: ObjectShape
        private(set) var attributes: [AttributeValue]
        private(set) var toOnes: [ManagedObjectID?]
        /// The properties that were set explicitly.
        private let set: Set<ObjectShape.Property>

        init(
            id: ManagedObjectID,
            shape: ObjectShape,
            attributes: [AttributeValue],
            toOnes: [ManagedObjectID?],
            set: Set<ObjectShape.Property>
        ) {
            self.id = id
            self.shape = shape
            self.attributes = attributes
            self.toOnes = toOnes
            self.set = set
        }

        /// An object with only the given values.
        init(id: ManagedObjectID, shape: ObjectShape, values: [String: PropertyValue]) {
            self.init(
                id: id,
                shape: shape,
                attributes: shape.attributes.map { _ in .null },
                toOnes: shape.toOnes.map { _ in nil },
                set: Set(values.keys.compactMap(shape.property))
            )
            self.values = values
        }

        /// The names of the explicitly set values.
        var given: Set<String> { Set(set.map(shape.name(of:))) }

        /// The values by name: all stored attributes, and to-one relationships with a destination.
        ///
        /// Assigning changes only the named values.
        var values: [String: PropertyValue] {
            get {
                var result: [String: PropertyValue] = [:]
                for index in shape.storedAttributes {
                    result[shape.attributes[index].name] = .attribute(attributes[index])
                }
                for (relationship, id) in zip(shape.toOnes, toOnes) where !relationship.isTransient {
                    if let id { result[relationship.name] = .object(id) }
                }
                return result
            }
            set {
                for (name, value) in newValue {
                    switch (shape.property(name), value) {
                    case (.attribute(let index)?, .attribute(let value)): attributes[index] = value
                    case (.toOne(let index)?, .object(let id)): toOnes[index] = id
                    default: break
                    }
                }
            }
        }

        /// Replaces a destination of to-one relationships by another object.
        mutating func replace(_ object: ManagedObjectID, by other: ManagedObjectID) {
            for index in toOnes.indices where toOnes[index] == object { toOnes[index] = other }
        }
    }
}
