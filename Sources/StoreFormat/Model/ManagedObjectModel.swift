/// The entities of a store, their properties and how they relate.
public struct ManagedObjectModel: Hashable, Sendable {
    public let entitiesByName: [String: EntityDescription]
    public let versionIdentifiers: [String]

    /// Creates a model; of several entities with one name it has the first.
    public init(entities: [EntityDescription], versionIdentifiers: [String] = []) {
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.versionIdentifiers = versionIdentifiers
    }

    /// The entities in the byte order of their names.
    public var entities: [EntityDescription] {
        entitiesByName.values.sorted { Self.inByteOrder($0.name, $1.name) }
    }
}
