import StoreAccess

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

extension LayoutResolver {
    /// Assigns the column names of one table as Core Data does: a taken name gets the next free digit.
    private struct Columns {
        let table: StoreSchema.Table
        private var taken: Set<String> = []

        init(_ table: StoreSchema.Table) {
            self.table = table
        }

        /// The name of the next property with this base, whether or not the table has the column.
        mutating func next(_ base: String) -> String {
            var name = base
            var suffix = 0
            while !taken.insert(name).inserted {
                suffix += 1
                name = base + String(suffix)
            }
            return name
        }

        /// The column as the table spells it.
        func found(_ name: String) -> StoreSchema.Column? { table.column(named: name) }
    }

    /// A to-one relationship of the model, or the hidden key of a to-many without an inverse.
    private struct Link {
        let name: String
        let destination: String
        let isOrdered: Bool
        let isHidden: Bool
    }

    /// Finds the columns of all properties of a root and its descendants.
    mutating func resolveColumns(ofRoot root: String) {
        let tree = trees[root] ?? []
        guard let table = table(ofRoot: root) else {
            for name in tree { report(name, nil, "there is no table Z\(root.uppercased())") }
            return
        }
        var columns = Columns(table)
        // Names are assigned in the order of the entities' numbers, parents before children.
        for name in tree {
            guard let entity = model.entitiesByName[name] else { continue }
            for attribute in entity.attributes where !attribute.isTransient {
                resolve(attribute, of: name, in: &columns)
            }
            for link in links(of: entity) { resolve(link, of: name, in: &columns) }
        }
    }

    private mutating func resolve(_ attribute: AttributeDescription, of entity: String, in columns: inout Columns) {
        guard attribute.type != .composite else {
            return report(entity, attribute.name, "the storage of composite attributes is unknown")
        }
        let name = columns.next("Z" + attribute.name.uppercased())
        guard let column = columns.found(name) else {
            return report(entity, attribute.name, "there is no column \(name) in \(columns.table.name)")
        }
        guard attribute.type.fits(column) else {
            return report(
                entity,
                attribute.name,
                "column \(name) of \(columns.table.name) is not of the attribute's type"
            )
        }
        attributes[entity, default: []]
            .append(StoreLayout.Attribute(description: attribute, declaredBy: entity, column: column.name))
    }

    private mutating func resolve(_ link: Link, of entity: String, in columns: inout Columns) {
        let base = link.name.uppercased()
        let name = columns.next("Z" + base)
        let digits = name.dropFirst(1 + base.count)
        guard let column = columns.found(name) else {
            return report(entity, link.name, "there is no column \(name) in \(columns.table.name)")
        }
        let entityColumn = companion("Z\(number(of: link.destination))_\(base)", digits, in: &columns)
        if entityColumn == nil, parents.contains(link.destination), !link.isHidden {
            report(entity, link.name, "there is no column for the concrete entity of its destination")
        }
        let orderColumn = link.isOrdered ? companion("Z_FOK_\(base)", digits, in: &columns) : nil
        if link.isOrdered, orderColumn == nil {
            report(entity, link.name, "there is no column for the order of its inverse")
        }
        keys[entity, default: []]
            .append(
                Key(
                    name: link.name,
                    columns: StoreLayout.ForeignKey(
                        column: column.name,
                        entityColumn: entityColumn,
                        orderColumn: orderColumn
                    ),
                    isHidden: link.isHidden
                )
            )
    }

    /// The column that accompanies a foreign key: numbered on its own, or like the key.
    private func companion(_ base: String, _ digits: Substring, in columns: inout Columns) -> String? {
        guard columns.found(base) != nil else { return nil }
        return (columns.found(columns.next(base)) ?? columns.found(base + digits))?.name
    }

    /// The parts of an entity that need a key column, in the order of naming.
    private func links(of entity: EntityDescription) -> [Link] {
        let own = entity.relationships.filter { !$0.isToMany && !$0.isTransient }
            .map { relationship in
                let inverse = relationship.inverse.flatMap { model.relationship($0, of: relationship.destination) }
                return Link(
                    name: relationship.name,
                    destination: relationship.destination,
                    isOrdered: inverse.map { $0.relationship.isToMany && $0.relationship.isOrdered } ?? false,
                    isHidden: false
                )
            }
        let hidden = (hiddenKeys[entity.name] ?? [])
            .map {
                Link(
                    name: hiddenName($0.relationship, declaredBy: $0.owner),
                    destination: $0.owner,
                    isOrdered: $0.relationship.isOrdered,
                    isHidden: true
                )
            }
        return own + hidden
    }
}

extension AttributeDescription.AttributeType {
    /// Core Data's declared type of such a column; nil if none was ever observed.
    package var declaredColumnType: String? {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: "INTEGER"
        case .decimal: "DECIMAL"
        case .double, .float: "FLOAT"
        case .string, .uri: "VARCHAR"
        case .date: "TIMESTAMP"
        case .binaryData, .uuid, .transformable: "BLOB"
        case .undefined, .objectID, .composite: nil
        }
    }

    /// True if a column can store values of this type.
    func fits(_ column: StoreSchema.Column) -> Bool {
        guard let expected = declaredColumnType else { return true }
        return column.declaredType.uppercased() == expected
    }
}

extension LayoutResolver {
    /// The meaning of a history bitmap's bits, in an entity with these ancestors.
    ///
    /// Foreign keys, their entity columns and their order columns come first, then attributes, then to-many
    /// relationships. In each group inherited properties come first, then byte order of the names.
    func historySlots(of lineage: [EntityDescription]) -> HistorySlots {
        let keys = lineage.flatMap { entity in
            (self.keys[entity.name] ?? []).sorted { ManagedObjectModel.inByteOrder($0.name, $1.name) }
        }
        let attributes = lineage.flatMap { entity in
            entity.attributes.filter { !$0.isTransient }.map(\.name).sorted(by: ManagedObjectModel.inByteOrder)
        }
        let toMany = lineage.flatMap(\.relationships).filter { $0.isToMany && !$0.isTransient }
        let isComplete = lineage.allSatisfy { entity in
            let toOne = entity.relationships.filter { !$0.isToMany && !$0.isTransient }
            return entity.attributes.filter { !$0.isTransient }.count == self.attributes[entity.name]?.count ?? 0
                && toOne.count == self.keys[entity.name]?.filter { !$0.isHidden }.count ?? 0
        }
        return HistorySlots(
            foreignKeys: keys.map { $0.isHidden ? nil : $0.name },
            entityColumns: keys.filter { $0.columns.entityColumn != nil }.map { $0.isHidden ? nil : $0.name },
            orderColumns: keys.filter { $0.columns.orderColumn != nil }.map { $0.isHidden ? nil : $0.name },
            attributes: attributes,
            oneToMany: toMany.filter { !isManyToMany($0) }.map(\.name),
            manyToMany: toMany.filter(isManyToMany).map(\.name),
            isComplete: isComplete
        )
    }

    /// The attributes whose last value history preserves, in the order of the columns `ZTOMBSTONE0…`.
    func tombstoneAttributes(of lineage: [EntityDescription]) -> [String] {
        let flagged = lineage.flatMap(\.attributes).filter(\.preservesValueInHistoryOnDeletion).map(\.name)
            .sorted(by: ManagedObjectModel.inByteOrder)
        if !flagged.isEmpty { return flagged }
        return lineage.last { !$0.legacyTombstoneAttributes.isEmpty }?.legacyTombstoneAttributes ?? []
    }
}
