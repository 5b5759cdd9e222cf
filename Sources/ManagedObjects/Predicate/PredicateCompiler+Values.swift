internal import StoreFormat

extension PredicateCompiler {
    mutating func value(
        _ operand: ResolvedOperand,
        _ options: StringOptions,
        _ scopes: [String]
    ) throws(FetchError) -> SQLFragment {
        switch operand {
        case .constant(let value): return "\(value: value)"
        case .attribute(let subject, let attribute):
            guard let column = layout.entities[subject.destination]?.attribute(attribute.name)?.column else {
                throw missing(attribute.name, of: subject.destination)
            }
            let value = try self.column(column, of: subject, scopes)
            guard attribute.type != .boolean else { return Self.truth(value) }
            guard !options.isEmpty else { return value }
            return "\(plain: SQLFunction.textFolded)(\(value), \(plain: options.rawValue))"
        case .count(let owner, let hop):
            let alias = nextAlias("c")
            return "(SELECT count(*) \(try source(hop, of: owner, as: alias, scopes)))"
        case .countWhere(let owner, let hop, let depth, let condition):
            let alias = nextAlias("q")
            let source = try source(hop, of: owner, as: alias, scopes)
            let condition = try compile(condition, Array(scopes.prefix(depth)) + [alias])
            return "(SELECT count(*) \(source) AND (\(condition)))"
        case .aggregate(let aggregate, let owner, let hop, let operand):
            let alias = nextAlias("a")
            let source = try source(hop, of: owner, as: alias, scopes)
            let value = try value(operand, options, Array(scopes.prefix(owner.scope + 1)) + [alias])
            guard aggregate.isNumeric else { return "(SELECT \(plain: aggregate.rawValue)(\(value)) \(source))" }
            // SQLite's own sum() depends on the order of the rows and fails on integer overflow.
            return """
                (SELECT \(plain: SQLFunction.numbersSummed)(group_concat(\
                CASE WHEN typeof(\(value)) IN ('integer', 'real') THEN quote(\(value)) END, ' '), \
                \(value: .text(aggregate.rawValue))) \(source))
                """
        }
    }

    /// A boolean column as a truth value: every integer but 0 is true.
    private static func truth(_ value: SQLFragment) -> SQLFragment {
        "(CASE typeof(\(value)) WHEN 'integer' THEN \(value) <> 0 ELSE \(value) END)"
    }

    /// Compares a boolean attribute of the object itself with true or false so that an index can be used; nil for
    /// others.
    mutating func isTruth(
        _ operand: ResolvedOperand,
        equalTo constant: ResolvedOperand,
        _ scopes: [String]
    ) throws(FetchError) -> SQLFragment? {
        guard case .attribute(let subject, let attribute) = operand, attribute.type == .boolean, subject.hops.isEmpty,
            case .constant(let value) = constant, value == .integer(0) || value == .integer(1),
            let name = layout.entities[subject.destination]?.attribute(attribute.name)?.column
        else { return nil }
        let column = try self.column(name, of: subject, scopes)
        guard value == .integer(1) else { return "\(column) = 0" }
        return """
            typeof(\(column)) = 'integer' AND (\(column) BETWEEN 1 AND 9223372036854775807 OR \(column) < 0)
            """
    }

    /// The key of an object, read from the foreign key columns on the path; the row itself may be missing.
    mutating func key(_ subject: ResolvedSubject, _ scopes: [String]) throws(FetchError) -> SQLFragment {
        guard let last = subject.hops.last else { return try column("Z_PK", of: subject, scopes) }
        var owner = subject
        owner.hops.removeLast()
        guard case .toOne(let key) = try relationship(last).storage else {
            throw missing(last.relationship.name, of: last.entity)
        }
        return try column(key.column, of: owner, scopes)
    }

    /// A column of an object's row; null when the row does not exist.
    mutating func column(
        _ column: String,
        of subject: ResolvedSubject,
        _ scopes: [String]
    ) throws(FetchError) -> SQLFragment {
        guard !subject.hops.isEmpty else { return "\(plain: scopes[subject.scope]).\(name: column)" }
        let table = try table(of: subject.destination)
        let alias = nextAlias("h")
        let key = try key(subject, scopes)
        return """
            (SELECT \(plain: alias).\(name: column) FROM \(name: table) \(plain: alias) \
            WHERE \(plain: alias).Z_PK = \(key))
            """
    }

    /// `FROM … WHERE …` for the objects in a to-many relationship, with an alias for their table.
    mutating func source(
        _ hop: ResolvedHop,
        of owner: ResolvedSubject,
        as alias: String,
        _ scopes: [String]
    ) throws(FetchError) -> SQLFragment {
        let relationship = try relationship(hop)
        let key = try key(owner, scopes)
        switch relationship.storage {
        case .toOne: throw missing(hop.relationship.name, of: hop.entity)
        case .oneToMany(let table, let foreignKey):
            return """
                FROM \(name: table) \(plain: alias) WHERE \(plain: alias).\(name: foreignKey.column) = \(key)
                """
        case .manyToMany(let join, let side, let other):
            let table = try table(of: hop.relationship.destination)
            let row = nextAlias("j")
            guard side.entity == other.entity, side.relationship == other.relationship else {
                return """
                    FROM \(name: join) \(plain: row) JOIN \(name: table) \(plain: alias) \
                    ON \(plain: alias).Z_PK = \(plain: row).\(name: other.column) \
                    WHERE \(plain: row).\(name: side.column) = \(key)
                    """
            }
            // A relationship that is its own inverse is a symmetric set: a pair may be stored in either direction.
            return """
                FROM \(name: table) \(plain: alias) WHERE \(plain: alias).Z_PK IN (\
                SELECT \(name: other.column) FROM \(name: join) WHERE \(name: side.column) = \(key) UNION \
                SELECT \(name: side.column) FROM \(name: join) WHERE \(name: other.column) = \(key))
                """
        }
    }

    // MARK: Names

    private func relationship(_ hop: ResolvedHop) throws(FetchError) -> StoreLayout.Relationship {
        guard let found = layout.entities[hop.entity]?.relationship(hop.relationship.name) else {
            throw missing(hop.relationship.name, of: hop.entity)
        }
        return found
    }

    private func table(of entity: String) throws(FetchError) -> String {
        guard let table = layout.entities[entity]?.table else {
            throw FetchError(entity: entity, keyPath: "", message: "the store has no table for this entity")
        }
        return table
    }

    private func missing(_ property: String, of entity: String) -> FetchError {
        FetchError(entity: entity, keyPath: property, message: "the store does not contain this property")
    }
}
