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
