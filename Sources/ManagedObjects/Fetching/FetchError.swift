/// A predicate or a fetch request that does not fit the entity it is to be used with.
public struct FetchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The entity whose objects were asked for.
    public let entity: String
    /// The key path that does not fit; empty when it is about none.
    public let keyPath: String
    /// A lower-case fragment that says why.
    public let message: String

    public init(entity: String, keyPath: String, message: String) {
        self.entity = entity
        self.keyPath = keyPath
        self.message = message
    }

    public var description: String {
        keyPath.isEmpty ? "\(entity): \(message)" : "\(entity), key path '\(keyPath)': \(message)"
    }
}
