public import StoreFormat

/// The entities of a model and how they relate.
public struct ReportGraph: Hashable, Sendable {
    /// An entity.
    public struct Node: Hashable, Sendable {
        public var name: String
        /// A few words below the name: how many objects there are.
        public var detail: String?
        public var isAbstract: Bool
        /// Its lines in the list.
        public var properties: [String]

        public init(_ name: String, detail: String? = nil, isAbstract: Bool = false, properties: [String] = []) {
            self.name = name
            self.detail = detail
            self.isAbstract = isAbstract
            self.properties = properties
        }
    }

    /// A line between two entities, by their indices among the nodes.
    public struct Edge: Hashable, Sendable {
        /// What a line means.
        public enum Kind: Hashable, Sendable {
            /// A relationship of the first entity to one or many of the second, with its inverse.
            case relationship(many: Bool, manyBack: Bool)
            /// The second entity inherits from the first.
            case inheritance
        }

        public var from: Int
        public var to: Int
        public var kind: Kind
        public var label: String

        public init(from: Int, to: Int, _ kind: Kind, label: String = "") {
            self.from = from
            self.to = to
            self.kind = kind
            self.label = label
        }
    }

    public var nodes: [Node]
    /// Edges to a missing node are not drawn.
    public var edges: [Edge]

    public init(nodes: [Node], edges: [Edge]) {
        self.nodes = nodes
        self.edges = edges
    }

    /// Creates the graph of a model; `detail` returns a few words about the entity of a name.
    public init(_ model: ManagedObjectModel, detail: (String) -> String? = { _ in nil }) {
        let entities = model.entities
        var places: [String: Int] = [:]
        for (index, entity) in entities.enumerated() { places[entity.name] = index }
        nodes = entities.map { entity in
            Node(
                entity.name,
                detail: detail(entity.name),
                isAbstract: entity.isAbstract,
                properties: Self.properties(of: entity)
            )
        }
        edges = entities.compactMap { entity in
            guard let parent = entity.superentity.flatMap({ places[$0] }), let child = places[entity.name] else {
                return nil
            }
            return Edge(from: parent, to: child, .inheritance)
        }
        for pair in model.relationshipPairs {
            guard let from = places[pair.forward.entity], let to = places[pair.forward.relationship.destination] else {
                continue
            }
            edges.append(Self.edge(pair, from, to))
        }
    }

    /// The line of a relationship, drawn from the to-one to the to-many end.
    private static func edge(_ pair: RelationshipPair, _ from: Int, _ to: Int) -> Edge {
        let many = pair.forward.relationship.isToMany
        let manyBack = pair.inverse?.relationship.isToMany ?? false
        let name = pair.forward.relationship.name
        guard let inverse = pair.inverse, inverse != pair.forward else {
            return Edge(from: from, to: to, .relationship(many: many, manyBack: manyBack), label: name)
        }
        let back = inverse.relationship.name
        return manyBack && !many
            ? Edge(from: to, to: from, .relationship(many: manyBack, manyBack: many), label: "\(back) / \(name)")
            : Edge(from: from, to: to, .relationship(many: many, manyBack: manyBack), label: "\(name) / \(back)")
    }

    private static func properties(of entity: EntityDescription) -> [String] {
        (entity.superentity.map { ["inherits from \($0)"] } ?? [])
            + entity.attributes.map { "\($0.name): \($0.type)\($0.isOptional ? ", optional" : "")" }
            + entity.relationships.map { relationship in
                let amount = relationship.isToMany ? "many " : ""
                let back = relationship.inverse.map { ", and back by \($0)" } ?? ""
                return "\(relationship.name): \(amount)\(relationship.destination)\(back)"
            }
    }
}
