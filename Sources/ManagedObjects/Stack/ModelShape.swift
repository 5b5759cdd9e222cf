package import StoreFormat

/// A model with the shape of each of its entities.
package final class ModelShape: Sendable {
    package let model: ManagedObjectModel
    package let entities: [String: ObjectShape]

    package init(_ model: ManagedObjectModel) {
        self.model = model
        entities = model.entitiesByName.mapValues { ObjectShape($0, in: model) }
    }

    /// The shape of an entity; the error for an unknown name does not list the known ones.
    package func entity(_ name: String) throws -> ObjectShape {
        guard let shape = entities[name] else {
            throw ManagedObjectError(.unknownProperty, "the model has no entity \(name)")
        }
        return shape
    }
}
