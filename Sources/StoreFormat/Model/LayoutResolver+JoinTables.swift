import StoreAccess

extension LayoutResolver {
    /// One relationship of a many-to-many pair.
    private struct End: Hashable {
        let entity: String
        let relationship: RelationshipDescription
        /// The numbers that column names may use for its owner: usually those of a single entity.
        let numbers: [String]
    }

    /// Finds the table of every many-to-many relationship.
    ///
    /// The relationship that names the table cannot be derived: both names are tried, and the columns decide.
    mutating func resolveJoinTables() {
        var done: Set<[String]> = []
        for name in order {
            for relationship in model.entitiesByName[name]?.relationships ?? [] where !relationship.isTransient {
                guard isManyToMany(relationship), let pair = pair(relationship, declaredBy: name) else {
                    if relationship.isToMany { checkInverse(relationship, declaredBy: name) }
                    continue
                }
                let key = [pair.0, pair.1].map { $0.entity + "." + $0.relationship.name }
                    .sorted(by: ManagedObjectModel.inByteOrder)
                guard done.insert(key).inserted else { continue }
                if let table = joinTable(of: pair) {
                    joinTables.append(table)
                } else {
                    report(name, relationship.name, "there is no join table for it")
                    if pair.0 != pair.1 {
                        report(pair.1.entity, pair.1.relationship.name, "there is no join table for it")
                    }
                }
            }
        }
    }

    private mutating func checkInverse(_ relationship: RelationshipDescription, declaredBy entity: String) {
        guard let inverse = relationship.inverse else { return }
        guard model.relationship(inverse, of: relationship.destination) == nil else { return }
        report(entity, relationship.name, "the model has no inverse \(inverse) of it")
    }

    private func pair(_ relationship: RelationshipDescription, declaredBy entity: String) -> (End, End)? {
        guard
            let inverse = relationship.inverse,
            let back = model.relationship(inverse, of: relationship.destination)
        else { return nil }
        return (
            end(relationship, declaredBy: entity, reachedBy: back.relationship),
            end(back.relationship, declaredBy: back.declaredBy, reachedBy: relationship)
        )
    }

    private func end(
        _ relationship: RelationshipDescription,
        declaredBy entity: String,
        reachedBy inverse: RelationshipDescription
    ) -> End {
        var names = [number(of: entity)]
        if inverse.destination != entity { names.append(number(of: inverse.destination)) }
        return End(entity: entity, relationship: relationship, numbers: names)
    }

    private func joinTable(of pair: (End, End)) -> StoreLayout.JoinTable? {
        for end in [pair.0, pair.1] {
            for number in end.numbers {
                let name = "Z_" + number + end.relationship.name.uppercased()
                guard
                    let table = schema.table(named: name), table.holdsRows,
                    !joinTables.contains(where: { $0.name == table.name }),
                    let result = match(table, pair)
                else { continue }
                return result
            }
        }
        return nil
    }

    /// A column is named by the entity whose keys it contains and by the relationship that refers to that entity.
    private func match(_ table: StoreSchema.Table, _ pair: (End, End)) -> StoreLayout.JoinTable? {
        let (first, second) = pair
        if first.entity == second.entity, first.relationship.name == second.relationship.name {
            guard
                let column = candidates(in: table, owner: first, inverse: second).first,
                let other = table.column(named: "REFLEXIVE")
            else { return nil }
            return StoreLayout.JoinTable(
                name: table.name,
                first: side(first, column: column, other: other.name, in: table),
                second: side(second, column: other.name, other: column, in: table)
            )
        }
        for column in candidates(in: table, owner: first, inverse: second) {
            for other in candidates(in: table, owner: second, inverse: first) where other != column {
                return StoreLayout.JoinTable(
                    name: table.name,
                    first: side(first, column: column, other: other, in: table),
                    second: side(second, column: other, other: column, in: table)
                )
            }
        }
        return nil
    }

    /// The columns that may contain the owner's keys, the likeliest first: a digit at the end resolves a collision.
    private func candidates(in table: StoreSchema.Table, owner: End, inverse: End) -> [String] {
        let bases = owner.numbers.map { ("Z_" + $0 + inverse.relationship.name).uppercased() }
        let exact = bases.compactMap { table.column(named: $0)?.name }
        let numbered = table.columns.map(\.name)
            .filter { name in bases.contains { Self.isNumbered(name.uppercased(), $0) } }
        return exact + numbered
    }

    private static func isNumbered(_ name: String, _ base: String) -> Bool {
        guard name.hasPrefix(base), name != base else { return false }
        return name.utf8.dropFirst(base.utf8.count).allSatisfy { (48...57).contains($0) }
    }

    private func side(
        _ end: End,
        column: String,
        other: String,
        in table: StoreSchema.Table
    ) -> StoreLayout.JoinTable.Side {
        var order: String?
        if end.relationship.isOrdered {
            // The order key of the other side's object is in the column beside its key, with the same name.
            let name = "Z_FOK_" + other.dropFirst(2)
            order =
                table.column(named: name)?.name
                ?? table.columns.first { Self.isNumbered($0.name.uppercased(), name.uppercased()) }?.name
        }
        return StoreLayout.JoinTable.Side(
            entity: end.entity,
            relationship: end.relationship.name,
            column: column,
            orderColumn: order
        )
    }
}
