package import StoreFormat

/// Compiles a predicate to an SQL condition over the store's actual tables, for rows of the table with the alias `t`.
///
/// The condition is true for rows that match, and false or null for others. The connection that runs it needs the
/// functions of ``StoreFormat/SQLFunction/forPredicates()``.
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
