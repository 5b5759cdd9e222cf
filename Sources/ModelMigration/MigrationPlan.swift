import StoreAccess
import StoreFormat
import StoreWriting

/// The tables of the target and the source of each, computed before anything is written.
struct MigrationPlan {
    let source: SourceStore
    let mapping: InferredMapping
    let shape: StoreShape
    /// The tables that the source's model describes; the store may have others.
    let sourceShape: StoreShape
    let sourceHierarchy: ModelHierarchy
    let targetHierarchy: ModelHierarchy
    /// The columns of each source table that its model describes, in upper case.
    private let knownColumns: [String: Set<String>]
    /// The relationships of the target whose keys are in the rows of each table, and that have no inverse there.
    let hiddenRelationships: [String: [HiddenRelationship]]

    /// A to-many relationship without an inverse, the entity that declares it, and the key in its destination's rows.
    struct HiddenRelationship {
        let owner: StoreLayout.Entity
        let description: RelationshipDescription
        let key: StoreLayout.ForeignKey
    }
    /// The layout of the tables that the shape describes.
    let layout: StoreLayout

    init(_ source: SourceStore, to target: MigrationTarget, _ mapping: InferredMapping) throws {
        self.source = source
        self.mapping = mapping
        // A join table keeps its name as far as numbers permit, unless a store of the target version names it.
        let former = source.layout.joinTables.compactMap(\.owner)
            .compactMap { owner -> StoreShape.JoinTableOwner? in
                guard let entity = mapping.target(of: owner.entity),
                    let relationship = mapping.entity(entity)?.relationships
                        .first(where: { $0.source?.name == owner.relationship })?
                        .target.name
                else { return nil }
                return StoreShape.JoinTableOwner(entity: entity, relationship: relationship)
            }
        shape = try StoreShape(
            target.model,
            joinTableOwners: target.joinTableOwners.isEmpty ? Set(former) : target.joinTableOwners
        )
        layout = shape.layout(keeping: source.numbers)
        sourceShape = try StoreShape(source.model)
        sourceHierarchy = ModelHierarchy(source.model, sourceShape.numbering)
        targetHierarchy = ModelHierarchy(target.model, shape.numbering)
        knownColumns = Self.knownColumns(of: source.layout)
        hiddenRelationships = Self.hiddenRelationships(of: layout)
        guard let missing = layout.unresolved.first else { return }
        throw StoreError(
            .incompatible,
            path: target.path,
            "the target model permits no store: \(missing.entity).\(missing.property ?? ""): \(missing.reason)"
        )
    }

    // MARK: Entities

    /// The entities of the target that have rows in a source table, with the source entity of each.
    func pairs(fromTable table: String) -> [(source: StoreLayout.Entity, target: StoreLayout.Entity)] {
        source.layout.entities(inTable: table)
            .compactMap { former in
                mapping.target(of: former.name).flatMap { layout.entities[$0] }.map { (former, $0) }
            }
    }

    /// The source table whose rows a target table gets; nil for the table of new entities.
    func sourceTable(of table: String) -> String? {
        layout.entities(inTable: table).lazy
            .compactMap { entity in self.mapping.entity(entity.name)?.source.flatMap { self.source.layout.entities[$0] }
            }
            .first?
            .table
    }

    /// The numbers of the source entities whose objects a relationship could refer to, and cannot any more.
    ///
    /// They are removed, or do not inherit from the destination in the target.
    func lost(from former: String, to destination: String) -> [Int64] {
        sourceHierarchy.subtree(of: former).compactMap { source.layout.entities[$0] }
            .filter { entity in
                let target = mapping.target(of: entity.name)
                return target.map { !targetHierarchy.isEntity($0, kindOf: destination) } ?? true
            }
            .map(\.number).sorted()
    }

    // MARK: Columns

    /// The columns of a source table that its model describes, in upper case.
    func knownColumns(of table: String) -> Set<String> { knownColumns[table] ?? [] }

    private static func knownColumns(of layout: StoreLayout) -> [String: Set<String>] {
        var known: [String: Set<String>] = [:]
        for entity in layout.entities.values {
            known[entity.table, default: []].formUnion(entity.attributes.map { $0.column.uppercased() })
            for relationship in entity.relationships {
                switch relationship.storage {
                case .toOne(let key): known[entity.table, default: []].formUnion(key.all.map { $0.uppercased() })
                case .oneToMany(let table, let key):
                    known[table, default: []].formUnion(key.all.map { $0.uppercased() })
                case .manyToMany: break
                }
            }
        }
        return known
    }

    private static func hiddenRelationships(of layout: StoreLayout) -> [String: [HiddenRelationship]] {
        var hidden: [String: [HiddenRelationship]] = [:]
        for owner in layout.entities.values.sorted(by: { $0.number < $1.number }) {
            for relationship in owner.relationships
            where relationship.declaredBy == owner.name && relationship.description.inverse == nil {
                guard case .oneToMany(let table, let key) = relationship.storage else { continue }
                hidden[table, default: []]
                    .append(HiddenRelationship(owner: owner, description: relationship.description, key: key))
            }
        }
        return hidden
    }

    /// A number of the source, as the number of the same entity in the target; nil if it is removed.
    func number(_ former: Int64) -> Int64? {
        source.layout.entity(numbered: former).flatMap { mapping.target(of: $0.name) }
            .flatMap { layout.entities[$0]?.number }
    }

    /// True if no entity of the source has another number in the target.
    var keepsNumbers: Bool {
        source.layout.entities.values.allSatisfy { number($0.number) ?? $0.number == $0.number }
    }

    /// The SQL that converts an expression of entity numbers.
    func renumbered(_ expression: String, inTable table: String) -> String {
        let changed = source.layout.entities(inTable: table)
            .compactMap { entity in number(entity.number).map { (entity.number, $0) } }.filter { $0 != $1 }
        guard !changed.isEmpty else { return expression }
        let cases = changed.map { "WHEN \($0) THEN \($1)" }.joined(separator: " ")
        return "CASE \(expression) \(cases) ELSE \(expression) END"
    }

    // MARK: References

    /// Where the key of a target row comes from; nil for a new relationship without an old inverse.
    ///
    /// `entity` is the target entity of the row, and `relationship` the to-one that it has or inherits.
    func reference(_ relationship: EntityMapping.Relationship, of entity: String) -> ReferenceSource? {
        guard let former = mapping.entity(entity)?.source.flatMap({ source.layout.entities[$0] }) else { return nil }
        if let name = relationship.source?.name, let stored = former.relationship(name) {
            return ownKey(stored, to: relationship.target.destination)
        }
        guard let inverse = relationship.target.inverse else { return nil }
        return inverseKey(inverse, from: relationship.target.destination, into: former)
    }

    /// Where the hidden key for a to-many without an inverse comes from.
    func hiddenReference(_ relationship: String, of owner: String, into entity: String) -> ReferenceSource? {
        guard let former = mapping.entity(entity)?.source.flatMap({ source.layout.entities[$0] }) else { return nil }
        return inverseKey(relationship, from: owner, into: former)
    }

    private func ownKey(_ stored: StoreLayout.Relationship, to destination: String) -> ReferenceSource? {
        guard case .toOne(let key) = stored.storage,
            let former = source.layout.entities[stored.description.destination]
        else { return nil }
        return reference(key, to: former.table, lost(from: former.name, to: destination))
    }

    private func reference(_ key: StoreLayout.ForeignKey, to table: String, _ lost: [Int64]) -> ReferenceSource {
        func column(_ name: String) -> String { "s." + SQLName.quoted(name) }
        return ReferenceSource(
            key: column(key.column),
            entity: key.entityColumn.map(column),
            order: key.orderColumn.map(column),
            destinationTable: table,
            lost: lost,
            ambiguity: nil
        )
    }

    /// The key in a row of `former` that refers back to the owner of a relationship.
    private func inverseKey(
        _ name: String,
        from owner: String,
        into former: StoreLayout.Entity
    ) -> ReferenceSource? {
        let owners = targetHierarchy.subtree(of: owner).filter { layout.entities[$0] != nil }.sorted()
        for owner in mapping.target.lineage(of: owner).map(\.name).reversed() + owners {
            guard let mapped = mapping.entity(owner), let table = mapped.source.flatMap({ source.layout.entities[$0] }),
                let stored = mapped.relationship(name)?.source.flatMap({ table.relationship($0.name) })
            else { continue }
            let lost = lost(from: stored.declaredBy, to: owner)
            switch stored.storage {
            case .oneToMany(former.table, let key): return reference(key, to: table.table, lost)
            case .toOne(let key):
                let (from, column) = (SQLName.quoted(table.table), SQLName.quoted(key.column))
                return ReferenceSource(
                    key: "(SELECT o.Z_PK FROM \(from) o WHERE o.\(column) = s.Z_PK)",
                    entity: "(SELECT o.Z_ENT FROM \(from) o WHERE o.\(column) = s.Z_PK)",
                    order: nil,
                    destinationTable: table.table,
                    lost: lost,
                    ambiguity:
                        "SELECT 1 FROM \(from) WHERE \(column) NOT NULL GROUP BY \(column) HAVING count(*) > 1 LIMIT 1"
                )
            case .oneToMany, .manyToMany: continue
            }
        }
        return nil
    }

    /// The condition that a reference's destination survives; nil if every destination survives.
    func survival(of reference: ReferenceSource) -> String? {
        guard !reference.lost.isEmpty else { return nil }
        let numbers = reference.lost.map(String.init).joined(separator: ", ")
        let table = SQLName.quoted(reference.destinationTable)
        return "\(reference.key) NOT IN (SELECT Z_PK FROM \(table) WHERE Z_ENT IN (\(numbers)))"
    }
}
