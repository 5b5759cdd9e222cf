import NearNames
package import StoreFormat

/// A predicate or fetch request that does not fit the entity it is used with.
public struct FetchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The entity that was fetched.
    public let entity: String
    /// The invalid key path; empty when the error concerns none.
    public let keyPath: String
    /// The reason, as a lower-case fragment.
    public let message: String

    public init(entity: String, keyPath: String, message: String) {
        self.entity = entity
        self.keyPath = keyPath
        self.message = message
    }

    /// The error for an entity that the model lacks, with those it has.
    package init(unknown entity: String, in model: ManagedObjectModel) {
        let hint = NearName.hint(entity, among: model.entitiesByName.keys.sorted(), list: "it has")
        self.init(entity: entity, keyPath: "", message: "the model has no such entity; \(hint)")
    }

    public var description: String {
        keyPath.isEmpty ? "\(entity): \(message)" : "\(entity), key path '\(keyPath)': \(message)"
    }
}
