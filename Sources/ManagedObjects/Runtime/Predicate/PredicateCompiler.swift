import StoreAccess
package import StoreFormat

/// Compiles a predicate to an SQL condition over the store's actual tables, for rows of the table with the alias `t`.
///
/// The condition is true for rows that match, and false or null for others. The connection that runs it needs the
/// functions of ``StoreAccess/SQLFunction/forPredicates()``.
package struct PredicateCompiler {
    /// The alias of the fetched table.
    package static let alias = "t"
    /// SQLite allows at most 32766 arguments in a statement.
    private static let maximumOfArguments = 30_000

    let layout: StoreLayout
    let storeUUID: String
    private var aliases = 0

    package init(layout: StoreLayout, storeUUID: String) {
        self.layout = layout
        self.storeUUID = storeUUID
    }

    /// Throws when the store does not contain a property that the predicate uses.
    package func condition(_ predicate: ResolvedPredicate) throws(FetchError) -> SQLFragment {
        var compiler = self
        let condition = try compiler.compile(predicate.node, [Self.alias])
        guard condition.arguments.count <= Self.maximumOfArguments else {
            throw FetchError(
                entity: predicate.entity,
                keyPath: "",
                message: "the predicate contains more than \(Self.maximumOfArguments) values: fetch in several steps"
            )
        }
        return try Self.vetted(condition, of: predicate.entity)
    }

    /// The value for a sort key or a dictionary, of objects of an entity.
    func value(
        _ operand: ResolvedOperand,
        _ options: StringOptions,
        of entity: String
    ) throws(FetchError) -> SQLFragment {
        var compiler = self
        return try Self.vetted(compiler.value(operand, options, [Self.alias]), of: entity)
    }

    /// The key and the entity number of an object in a dictionary.
    func identity(_ subject: ResolvedSubject) throws(FetchError) -> [SQLFragment] {
        var compiler = self
        let key = try Self.vetted(compiler.key(subject, [Self.alias]), of: subject.entity)
        return [key, try Self.vetted(compiler.column("Z_ENT", of: subject, [Self.alias]), of: subject.entity)]
    }

    mutating func nextAlias(_ letter: String) -> String {
        aliases += 1
        return "\(letter)\(aliases)"
    }

    // MARK: Conditions

    /// The last of `scopes` is the alias of the innermost scope.
    mutating func compile(_ node: ResolvedNode, _ scopes: [String]) throws(FetchError) -> SQLFragment {
        switch node {
        case .value(let value): return value ? "1" : "0"
        case .not(let inner):
            // A null condition counts as false.
            return "(\(try compile(inner, scopes))) IS NOT TRUE"
        case .all(let nodes): return try joined(nodes, by: " AND ", empty: "1", scopes)
        case .any(let nodes): return try joined(nodes, by: " OR ", empty: "0", scopes)
        case .compare(let first, let order, let second, let options):
            return try compare(first, order, second, options, scopes)
        case .member(let operand, let values, let options):
            return Self.member(try value(operand, options, scopes), values)
        case .text(let first, let operation, let second, let options):
            return try text(first, operation, second, options, scopes)
        case .object(let subject, let ids, let orNil):
            let root = layout.entities[subject.destination]?.root
            let keys = ids.filter { $0.storeUUID == storeUUID && $0.rootName == root }.compactMap(\.primaryKey)
            return Self.member(try key(subject, scopes), keys.map(SQLValue.integer) + (orNil ? [.null] : []))
        case .sameObject(let first, let second):
            guard layout.entities[first.destination]?.root == layout.entities[second.destination]?.root else {
                // Keys of different tables are not comparable: the objects are equal only when both are nil.
                return "(\(try key(first, scopes)) IS NULL AND \(try key(second, scopes)) IS NULL)"
            }
            return "\(try key(first, scopes)) IS \(try key(second, scopes))"
        case .entity(let subject, let names):
            if let sole = layout.entities[subject.destination].flatMap({ layout.soleEntity(inTable: $0.table) }) {
                // All rows of a table with a single entity belong to it, even with another entity's number.
                return names.contains(sole.name) ? "\(try column("Z_PK", of: subject, scopes)) IS NOT NULL" : "0"
            }
            let numbers = names.compactMap { layout.entities[$0]?.number }.map(SQLValue.integer)
            return Self.member(try column("Z_ENT", of: subject, scopes), numbers)
        case .exists(let owner, let hop, let condition):
            let alias = nextAlias("s")
            let source = try source(hop, of: owner, as: alias, scopes)
            return "EXISTS (SELECT 1 \(source) AND (\(try compile(condition, scopes + [alias]))))"
        }
    }

    private mutating func compare(
        _ first: ResolvedOperand,
        _ order: ResolvedNode.Order,
        _ second: ResolvedOperand,
        _ options: StringOptions,
        _ scopes: [String]
    ) throws(FetchError) -> SQLFragment {
        if order == .equal {
            if let truth = try isTruth(first, equalTo: second, scopes) { return truth }
            if let truth = try isTruth(second, equalTo: first, scopes) { return truth }
        }
        let one = try value(first, options, scopes)
        let other = try value(second, options, scopes)
        guard order != .equal else {
            switch (first, second) {
            case (.constant(.null), _): return "\(other) IS NULL"
            case (_, .constant(.null)): return "\(one) IS NULL"
            // `IS` would be correct too, but only `=` uses indexes.
            case (.constant, _), (_, .constant): return "\(one) = \(other)"
            default: return "\(one) IS \(other)"
            }
        }
        var conditions: [SQLFragment] = ["\(one) \(plain: order == .less ? "<" : "<=") \(other)"]
        if first.mayBeNaN { conditions.append("typeof(\(one)) <> 'text'") }
        if second.mayBeNaN { conditions.append("typeof(\(other)) <> 'text'") }
        return .joined(conditions, by: " AND ")
    }

    /// `value IN (…)`, where a null in the list matches nil.
    private static func member(_ value: SQLFragment, _ values: [SQLValue]) -> SQLFragment {
        let others = values.filter { $0 != .null }
        let list: SQLFragment =
            others.isEmpty
            ? "0"
            : others.count == 1
                ? "\(value) = \(value: others[0])"
                : "\(value) IN (\(others.count > 500 ? manyKeys(others) ?? list(others) : list(others)))"
        return others.count == values.count ? list : "(\(list)) OR \(value) IS NULL"
    }

    private static func list(_ values: [SQLValue]) -> SQLFragment {
        SQLFragment(repeatElement("?", count: values.count).joined(separator: ","), values)
    }

    /// Many integers as one argument; nil when any value is not an integer.
    private static func manyKeys(_ values: [SQLValue]) -> SQLFragment? {
        let keys = values.compactMap(\.integer)
        guard keys.count == values.count else { return nil }
        let text = "[" + keys.map(String.init).joined(separator: ",") + "]"
        return "SELECT value FROM json_each(\(value: .text(text)))"
    }

    private mutating func text(
        _ first: ResolvedOperand,
        _ operation: StringOperator,
        _ second: ResolvedOperand,
        _ options: StringOptions,
        _ scopes: [String]
    ) throws(FetchError) -> SQLFragment {
        let one = try value(first, [], scopes)
        if operation == .beginsWith, options.isEmpty, case .constant(.text(let prefix)) = second,
            let end = Self.end(ofTextsBeginningWith: prefix.string)
        {
            // A range condition can use an index: matching strings are contiguous in code point order.
            return "\(one) >= \(value: .text(prefix)) AND \(one) < \(value: .text(end))"
        }
        let other = try value(second, [], scopes)
        return """
            \(plain: SQLFunction.textMatches)(\(one), \(plain: operation.rawValue), \(plain: options.rawValue), \(other))
            """
    }

    /// The first string after all strings with a prefix; nil when there is none.
    private static func end(ofTextsBeginningWith prefix: String) -> String? {
        guard let last = prefix.unicodeScalars.last, last.value < 0x10FFFF else { return nil }
        let next = Unicode.Scalar(last.value + 1) ?? "\u{E000}"
        var end = prefix.unicodeScalars
        end.removeLast()
        end.append(next)
        return String(end)
    }
}

extension PredicateCompiler {
    /// SQLite rejects expressions nested deeper than 1000, and counts `a OR b OR c` as nested twice.
    private static let maximumOfNeighbours = 8
    /// A condition nested deeper than this goes first among its neighbours, where it uses the least parser stack.
    private static let considerableNesting = 20
    /// SQLite's parser stack has 100 entries; the rest is for the statement around the condition.
    private static let maximumNesting = 75
    /// Connections reject statements longer than 1 000 000 bytes.
    private static let maximumOfBytes = 900_000

    /// Conditions joined by AND or OR.
    mutating func joined(
        _ nodes: [ResolvedNode],
        by word: String,
        empty: SQLFragment,
        _ scopes: [String]
    ) throws(FetchError) -> SQLFragment {
        guard !nodes.isEmpty else { return empty }
        var conditions: [SQLFragment] = []
        for node in nodes { conditions.append("(\(try compile(node, scopes)))") }
        let depths = conditions.map(\.nesting)
        if let deepest = depths.max(), deepest > Self.considerableNesting, let index = depths.firstIndex(of: deepest) {
            conditions.insert(conditions.remove(at: index), at: 0)
        }
        while conditions.count > Self.maximumOfNeighbours {
            conditions = stride(from: 0, to: conditions.count, by: Self.maximumOfNeighbours)
                .map { start in
                    let group = conditions[start...].prefix(Self.maximumOfNeighbours)
                    return "(\(SQLFragment.joined(Array(group), by: word)))"
                }
        }
        return .joined(conditions, by: word)
    }

    /// Throws for conditions that exceed SQLite's limits.
    static func vetted(_ fragment: SQLFragment, of entity: String) throws(FetchError) -> SQLFragment {
        guard fragment.nesting <= maximumNesting else {
            throw FetchError(
                entity: entity,
                keyPath: "",
                message: "the predicate nests too deeply for SQLite: use fewer parentheses, subqueries and chained keys"
            )
        }
        guard fragment.sql.utf8.count <= maximumOfBytes else {
            throw FetchError(
                entity: entity,
                keyPath: "",
                message: "the predicate is too long for SQLite: fetch in several steps"
            )
        }
        return fragment
    }
}

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
