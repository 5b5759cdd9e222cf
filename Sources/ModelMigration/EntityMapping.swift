public import StoreFormat

/// What the objects of one entity become: the source of each property of the target entity, inherited ones included.
public struct EntityMapping: Hashable, Sendable {
    /// An attribute of the target and its source.
    public struct Attribute: Hashable, Sendable {
        public let target: AttributeDescription
        /// The attribute that has the values; nil if the objects get the default.
        public let source: AttributeDescription?

        /// True if values that may be in files must move into their rows.
        var movesIntoRows: Bool {
            source?.allowsExternalBinaryDataStorage == true && !target.allowsExternalBinaryDataStorage
        }
    }

    /// A relationship of the target and its source.
    public struct Relationship: Hashable, Sendable {
        public let target: RelationshipDescription
        /// The relationship that has the destinations; nil for a new one.
        public let source: RelationshipDescription?
    }

    /// The entity of the target model.
    public let target: String
    /// The entity of the source model; nil for a new entity.
    public let source: String?
    /// The persistent attributes of the target, inherited ones first.
    public let attributes: [Attribute]
    /// The persistent relationships of the target, inherited ones first.
    public let relationships: [Relationship]

    public func attribute(_ name: String) -> Attribute? { attributes.first { $0.target.name == name } }

    public func relationship(_ name: String) -> Relationship? { relationships.first { $0.target.name == name } }
}
