import StoreFormat

/// References that are not a key in the owner's rows before and after: join rows, and keys that lose destinations.
extension MigrationProof {
    /// The statements that select the members of a relationship in both stores, in one order.
    struct LinkStatements {
        let before: String
        let after: String
        /// True if the third column is an order key.
        let hasPlaces: Bool
    }

    /// The keys of a to-one relationship, if every destination survives.
    func keys(
        of relationship: EntityMapping.Relationship,
        _ former: StoreLayout.Entity,
        _ entity: StoreLayout.Entity
    ) -> (before: StoreLayout.ForeignKey, after: StoreLayout.ForeignKey)? {
        guard let source = relationship.source,
            case .toOne(let before)? = former.relationship(source.name)?.storage,
            case .toOne(let after)? = entity.relationship(relationship.target.name)?.storage,
            plan.lost(from: source.destination, to: relationship.target.destination).isEmpty
        else { return nil }
        return (before, after)
    }

    /// Nil for a new relationship, and where ``keys(of:_:_:)`` or the inverse has the same references.
    func linkStatements(
        _ relationship: EntityMapping.Relationship,
        _ former: StoreLayout.Entity,
        _ entity: StoreLayout.Entity
    ) -> LinkStatements? {
        guard let source = relationship.source, let before = former.relationship(source.name),
            let after = entity.relationship(relationship.target.name), keys(of: relationship, former, entity) == nil
        else { return nil }
        // The other side of a join table has the same rows.
        let isOtherSide =
            if case .manyToMany(_, let side, let other) = after.storage, !after.isOrdered {
                side.column > other.column
            } else if case .oneToMany = after.storage { true } else { false }
        if isOtherSide, let inverse = relationship.target.inverse,
            plan.mapping.entity(relationship.target.destination)?.relationship(inverse)?.source != nil
        {
            return nil
        }
        let lost = plan.lost(from: source.destination, to: relationship.target.destination)
        let keepsOrder = before.isOrdered && after.isOrdered
        return LinkStatements(
            before: Self.links(before, former, plan.source.layout, keepsOrder, without: lost),
            after: Self.links(after, entity, layout, keepsOrder, without: []),
            hasPlaces: keepsOrder
        )
    }

    /// Selects the keys of owner and member, and the order key.
    private static func links(
        _ relationship: StoreLayout.Relationship,
        _ owner: StoreLayout.Entity,
        _ layout: StoreLayout,
        _ keepsOrder: Bool,
        without lost: [Int64]
    ) -> String {
        let table = SQLName.quoted(owner.table)
        let owners = "SELECT Z_PK FROM \(table) WHERE \(condition(owner, layout))"
        var pairs: String
        switch relationship.storage {
        case .toOne(let key):
            let column = SQLName.quoted(key.column)
            pairs =
                "SELECT Z_PK AS owner, \(column) AS member, NULL AS place FROM \(table) "
                + "WHERE \(column) NOT NULL AND \(condition(owner, layout))"
        case .oneToMany(let members, let key):
            let column = SQLName.quoted(key.column)
            pairs =
                "SELECT \(column) AS owner, Z_PK AS member, \(key.orderColumn.map(SQLName.quoted) ?? "NULL") AS place "
                + "FROM \(SQLName.quoted(members)) WHERE \(column) IN (\(owners))"
        case .manyToMany(let join, let side, let other):
            pairs = StoreLayout.JoinTable.pairs(join, side, other) { "\($0) IN (\(owners))" }
        }
        pairs = "SELECT DISTINCT owner, member\(keepsOrder ? ", place" : "") FROM (\(pairs))"
        if !lost.isEmpty, let destination = layout.entities[relationship.description.destination] {
            pairs +=
                " WHERE member NOT IN (SELECT Z_PK FROM \(SQLName.quoted(destination.table)) "
                + "WHERE Z_ENT IN (\(lost.map(String.init).joined(separator: ", "))))"
        }
        return pairs + " ORDER BY owner, member"
    }

    /// True if the stores have different members; an order key that was missing may be new.
    func differ(_ statements: LinkStatements) throws -> Bool {
        let (before, after) = try (source.cursor(statements.before), migrated.cursor(statements.after))
        while true {
            let (isRow, isOther) = try (before.next(), after.next())
            guard isRow, isOther else { return isRow != isOther }
            let isEqual = before.withRow { row in
                after.withRow { other in
                    row.holds(0, sameAs: other, 0) && row.holds(1, sameAs: other, 1)
                        && (!statements.hasPlaces || row.type(2) == .null || row.holds(2, sameAs: other, 2))
                }
            }
            if !isEqual { return true }
        }
    }
}

extension StoreLayout.Relationship {
    /// True if the members have order keys.
    fileprivate var isOrdered: Bool {
        switch storage {
        case .toOne: false
        case .oneToMany(_, let key): key.orderColumn != nil
        case .manyToMany(_, let owner, let other):
            owner.orderColumn != nil && !StoreLayout.JoinTable.isReflexive(owner, other)
        }
    }
}
