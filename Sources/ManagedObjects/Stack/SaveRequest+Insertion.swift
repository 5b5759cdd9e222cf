internal import StoreFormat

extension SaveRequest {
    /// A new object, with its values by the numbers of its shape: there may be very many of them.
    struct Insertion: Sendable {
        var id: ManagedObjectID
        let shape: ObjectShape
        private(set) var attributes: [AttributeValue]
        private(set) var toOnes: [ManagedObjectID?]
        /// The properties that were set, and not left at their defaults.
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

        /// An object that holds these values and no others.
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

        /// The names of the values that were set.
        var given: Set<String> { Set(set.map(shape.name(of:))) }

        /// The values by name: all attributes that a store keeps, and the to-ones that lead somewhere.
        ///
        /// Setting changes those that are named.
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

        /// Leads to-ones that lead to one object to another.
        mutating func replace(_ object: ManagedObjectID, by other: ManagedObjectID) {
            for index in toOnes.indices where toOnes[index] == object { toOnes[index] = other }
        }
    }
}
