/// Finds the tables and columns of a model's entities.
struct LayoutResolver {
    /// The key columns of a to-one relationship, and whether they belong to a property of the model.
    struct Key: Hashable {
        let name: String
        let columns: StoreLayout.ForeignKey
        /// True for the key that a to-many relationship without an inverse adds to its destination's rows.
        let isHidden: Bool
    }

    let model: ManagedObjectModel
    let schema: StoreSchema
    let numbers: EntityNumbers
    /// The entities that others inherit from.
    let parents: Set<String>
    /// The model's entities in the order of their numbers, without those that have none.
    let order: [String]
    /// The entities of each tree, by its root, in the order of their numbers.
    let trees: [String: [String]]
    /// The to-many relationships without an inverse, by their destination: its rows contain a key for each.
    let hiddenKeys: [String: [(owner: String, relationship: RelationshipDescription)]]

    var entities: [String: StoreLayout.Entity] = [:]
    var joinTables: [StoreLayout.JoinTable] = []
    var unresolved: [StoreLayout.Unresolved] = []
    /// The attribute columns and key columns that each entity declares.
    var attributes: [String: [StoreLayout.Attribute]] = [:]
    var keys: [String: [Key]] = [:]

    init(model: ManagedObjectModel, schema: StoreSchema, entityNumbers: EntityNumbers) {
        self.model = model
        self.schema = schema
        numbers = entityNumbers
        parents = Set(model.entitiesByName.values.compactMap(\.superentity))
        var seen: Set<String> = []
        let order = entityNumbers.modelEntries.map(\.name)
            .filter { model.entitiesByName[$0] != nil && seen.insert($0).inserted }
        self.order = order
        trees = Dictionary(grouping: order) { model.lineage(of: $0).first?.name ?? $0 }
        let lonely = order.flatMap { owner in
            (model.entitiesByName[owner]?.relationships ?? [])
                .filter { $0.isToMany && !$0.isTransient && $0.inverse == nil }.map { (owner: owner, relationship: $0) }
        }
        hiddenKeys = Dictionary(grouping: lonely, by: \.relationship.destination)
    }

    mutating func resolve() {
        let numbered = Set(order)
        for name in model.entitiesByName.keys.sorted(by: ManagedObjectModel.inByteOrder) where !numbered.contains(name)
        {
            report(name, nil, "the store has no number for the entity")
        }
        var roots: Set<String> = []
        for name in order {
            guard let root = model.lineage(of: name).first?.name, roots.insert(root).inserted else { continue }
            resolveColumns(ofRoot: root)
        }
        resolveJoinTables()
        let joins = Dictionary(grouping: joinTables.flatMap { [($0, $0.first), ($0, $0.second)] }) { _, side in
            side.entity
        }
        for name in order {
            guard let number = numbers.number(of: name), let table = table(of: name) else { continue }
            let lineage = model.lineage(of: name)
            entities[name] = StoreLayout.Entity(
                name: name,
                number: number,
                root: lineage.first?.name ?? name,
                table: table.name,
                isAbstract: model.entitiesByName[name]?.isAbstract ?? false,
                hasSubentities: parents.contains(name),
                attributes: lineage.flatMap { attributes[$0.name] ?? [] },
                relationships: lineage.flatMap { relationships(declaredBy: $0, joins: joins[$0.name] ?? []) },
                historySlots: historySlots(of: lineage),
                tombstoneAttributes: tombstoneAttributes(of: lineage)
            )
        }
    }

    // MARK: Naming

    /// The table of the entity's root; nil if there is none with rows.
    func table(of entity: String) -> StoreSchema.Table? {
        model.lineage(of: entity).first.flatMap { table(ofRoot: $0.name) }
    }

    func table(ofRoot root: String) -> StoreSchema.Table? {
        guard let table = schema.table(named: "Z" + root.uppercased()), table.holdsRows else { return nil }
        return table
    }

    func number(of entity: String) -> String {
        numbers.number(of: entity).map(String.init) ?? "?"
    }

    mutating func report(_ entity: String, _ property: String?, _ reason: String) {
        unresolved.append(StoreLayout.Unresolved(entity: entity, property: property, reason: reason))
    }

    // MARK: Relationships

    private func relationships(
        declaredBy entity: EntityDescription,
        joins: [(StoreLayout.JoinTable, StoreLayout.JoinTable.Side)]
    ) -> [StoreLayout.Relationship] {
        entity.relationships.compactMap { relationship in
            storage(of: relationship, declaredBy: entity.name, joins: joins)
                .map { StoreLayout.Relationship(description: relationship, declaredBy: entity.name, storage: $0) }
        }
    }

    private func storage(
        of relationship: RelationshipDescription,
        declaredBy entity: String,
        joins: [(StoreLayout.JoinTable, StoreLayout.JoinTable.Side)]
    ) -> StoreLayout.Relationship.Storage? {
        if relationship.isTransient { return nil }
        if !relationship.isToMany {
            return key(relationship.name, declaredBy: entity).map { .toOne($0.columns) }
        }
        if let (table, side) = joins.first(where: { $0.1.relationship == relationship.name }) {
            let other = table.first == side ? table.second : table.first
            return .manyToMany(table: table.name, owner: side, other: other)
        }
        guard let table = self.table(of: relationship.destination) else { return nil }
        if let inverse = relationship.inverse {
            guard let owner = model.relationship(inverse, of: relationship.destination) else { return nil }
            return key(inverse, declaredBy: owner.declaredBy).map { .oneToMany(table: table.name, $0.columns) }
        }
        return key(hiddenName(relationship, declaredBy: entity), declaredBy: relationship.destination)
            .map { .oneToMany(table: table.name, $0.columns) }
    }

    private func key(_ name: String, declaredBy entity: String) -> Key? {
        keys[entity]?.first { $0.name == name }
    }

    /// The hidden name of the key in the destination's rows of a to-many without an inverse.
    func hiddenName(_ relationship: RelationshipDescription, declaredBy entity: String) -> String {
        number(of: entity) + relationship.name
    }

    /// True for a to-many relationship whose inverse is one as well.
    func isManyToMany(_ relationship: RelationshipDescription) -> Bool {
        guard relationship.isToMany, let inverse = relationship.inverse else { return false }
        return model.relationship(inverse, of: relationship.destination)?.relationship.isToMany ?? false
    }
}
