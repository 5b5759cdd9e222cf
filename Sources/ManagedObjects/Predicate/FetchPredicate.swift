/// Says which objects are wanted, in the words of `NSPredicate`.
///
/// It is compiled to SQL for what lies in a store, and evaluated for objects in memory, with the same result. Every
/// comparison is true or false, never unknown: nil equals nil and differs from every value, and nothing is less or greater
/// than nil. Texts are compared by their code points, unless `[c]` or `[d]` ignore case or diacritics. `ALL` holds for no
/// objects. `@sum` is 0 for no values, `@avg`, `@min` and `@max` are nil for none, and nil counts for nothing in them. A stored
/// boolean is true when it is any integer but 0.
public struct FetchPredicate: Hashable, Sendable {
    let node: PredicateNode

    init(_ node: PredicateNode) {
        self.node = node
    }

    /// Reads a predicate; throws where the format is wrong, or where arguments are missing or left over.
    public init(format: String, _ arguments: (any PredicateArgument)?...) throws(PredicateSyntaxError) {
        try self.init(format: format, argumentArray: arguments)
    }

    /// Reads a predicate whose arguments are in an array.
    public init(format: String, argumentArray: [(any PredicateArgument)?]) throws(PredicateSyntaxError) {
        node = try PredicateParser.predicate(format, arguments: argumentArray)
    }

    /// Matches every object, or none.
    public init(value: Bool) {
        node = .value(value)
    }

    /// Matches what all of the predicates match.
    public static func and(_ predicates: [FetchPredicate]) -> FetchPredicate {
        FetchPredicate(.all(predicates.map(\.node)))
    }

    /// Matches what any of the predicates matches.
    public static func or(_ predicates: [FetchPredicate]) -> FetchPredicate {
        FetchPredicate(.any(predicates.map(\.node)))
    }

    /// Matches what the predicate does not match.
    public static func not(_ predicate: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.not(predicate.node))
    }

    /// Puts values in the place of variables (`$NAME`); those without a value stay.
    public func withSubstitutionVariables(_ variables: [String: any PredicateArgument]) -> FetchPredicate {
        let constants = variables.mapValues(\.predicateConstant)
        return FetchPredicate(node.substituting(constants))
    }
}

extension PredicateNode {
    fileprivate func substituting(_ constants: [String: PredicateConstant]) -> PredicateNode {
        switch self {
        case .value: self
        case .not(let node): .not(node.substituting(constants))
        case .all(let nodes): .all(nodes.map { $0.substituting(constants) })
        case .any(let nodes): .any(nodes.map { $0.substituting(constants) })
        case .comparison(let comparison):
            .comparison(
                PredicateComparison(
                    modifier: comparison.modifier,
                    left: comparison.left.substituting(constants),
                    comparison: comparison.comparison,
                    options: comparison.options,
                    right: comparison.right.substituting(constants)
                )
            )
        }
    }
}

extension PredicateOperand {
    fileprivate func substituting(_ constants: [String: PredicateConstant]) -> PredicateOperand {
        switch self {
        case .variable(let name): return constants[name].map(PredicateOperand.constant) ?? self
        case .subquery(let subquery):
            // Its own variable is not for others to set.
            let others = constants.filter { $0.key != subquery.variable }
            return .subquery(
                PredicateSubquery(
                    collection: subquery.collection,
                    variable: subquery.variable,
                    predicate: subquery.predicate.substituting(others)
                )
            )
        case .constant, .keyPath: return self
        }
    }
}
