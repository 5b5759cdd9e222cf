/// The entities of a store, their properties and how they relate.
public struct ManagedObjectModel: Hashable, Sendable {
    /// The entities by name.
    public let entities: [String: EntityDescription]
    public let versionIdentifiers: [String]

    public init(entities: [EntityDescription], versionIdentifiers: [String] = []) {
        self.entities = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.versionIdentifiers = versionIdentifiers
    }
}
