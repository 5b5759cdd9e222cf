extension StoreLayout.JoinTable {
    /// The pairs of a many-to-many relationship in SQL: the columns `owner`, `member` and `place`.
    ///
    /// `place` is 0 if no order is kept. `condition` selects the owners, given the column of their keys. A relationship
    /// that is its own inverse is symmetric, so each pair counts in both directions; a pair stored in both directions
    /// is returned twice.
    package static func pairs(
        _ table: String,
        _ owner: Side,
        _ other: Side,
        where condition: (String) -> String
    ) -> String {
        func pairs(_ owner: Side, _ other: Side) -> String {
            let place = owner.orderColumn.map(SQLName.quoted) ?? "0"
            let (left, right) = (SQLName.quoted(owner.column), SQLName.quoted(other.column))
            return "SELECT \(left) AS owner, \(right) AS member, \(place) AS place FROM \(SQLName.quoted(table)) "
                + "WHERE \(condition(left))"
        }
        return isReflexive(owner, other)
            ? pairs(owner, other) + " UNION ALL " + pairs(other, owner) : pairs(owner, other)
    }

    /// True for the two sides of a relationship that is its own inverse.
    package static func isReflexive(_ side: Side, _ other: Side) -> Bool {
        side.entity == other.entity && side.relationship == other.relationship
    }
}
