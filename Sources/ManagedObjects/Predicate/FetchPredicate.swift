/// Says which objects are wanted, in the words of `NSPredicate`.
///
/// It is compiled to SQL for what lies in a store, and evaluated for objects in memory, with the same result. Every
/// comparison is true or false, never unknown: nil equals nil and differs from every value, and nothing is less or greater
/// than nil. Texts are compared by their code points, unless `[c]` or `[d]` ignore case or diacritics. `ALL` holds for no
/// objects. `@sum` is 0 for no values, `@avg`, `@min` and `@max` are nil for none, and nil counts for nothing in them. A stored
/// boolean is true when it is any integer but 0. One that nests too deeply is refused when it is used.
public struct FetchPredicate: Hashable, Sendable {
    let node: PredicateNode
    /// That of the node, which would take long to find out again for every predicate that is made of this one.
    private let depth: Int

    init(_ node: PredicateNode) {
        self.init(node, depth: node.depth)
    }

    private init(_ node: PredicateNode, depth: Int) {
        let isTooDeep = depth > PredicateNode.maximumDepth
        self.node = isTooDeep ? .tooDeep : node
        self.depth = isTooDeep ? 1 : depth
    }

    /// Reads a predicate; throws where the format is wrong, or where arguments are missing or left over.
    public init(format: String, _ arguments: (any PredicateArgument)?...) throws(PredicateSyntaxError) {
        try self.init(format: format, argumentArray: arguments)
    }

    /// Reads a predicate whose arguments are in an array.
    public init(format: String, argumentArray: [(any PredicateArgument)?]) throws(PredicateSyntaxError) {
        self.init(try PredicateParser.predicate(format, arguments: argumentArray))
    }

    /// Matches every object, or none.
    public init(value: Bool) {
        self.init(.value(value))
    }

    /// Matches what all of the predicates match.
    public static func and(_ predicates: [FetchPredicate]) -> FetchPredicate {
        joined(predicates, PredicateNode.all) { if case .all(let nodes) = $0 { nodes } else { nil } }
    }

    /// Matches what any of the predicates matches.
    public static func or(_ predicates: [FetchPredicate]) -> FetchPredicate {
        joined(predicates, PredicateNode.any) { if case .any(let nodes) = $0 { nodes } else { nil } }
    }

    /// Matches what the predicate does not match.
    public static func not(_ predicate: FetchPredicate) -> FetchPredicate {
        // Nothing is ever unknown, so that twice is as good as not at all.
        if case .not(let node) = predicate.node { return FetchPredicate(node, depth: predicate.depth - 1) }
        return FetchPredicate(.not(predicate.node), depth: predicate.depth + 1)
    }

    /// Joins predicates on one level, so that one that grows piece by piece does not grow in depth.
    private static func joined(
        _ predicates: [FetchPredicate],
        _ join: ([PredicateNode]) -> PredicateNode,
        parts: (PredicateNode) -> [PredicateNode]?
    ) -> FetchPredicate {
        if predicates.count == 1 { return predicates[0] }
        var nodes: [PredicateNode] = []
        var depth = 0
        for predicate in predicates {
            if let parts = parts(predicate.node) {
                nodes += parts
                depth = max(depth, predicate.depth - 1)
            } else {
                nodes.append(predicate.node)
                depth = max(depth, predicate.depth)
            }
        }
        return FetchPredicate(join(nodes), depth: depth + 1)
    }

    /// Puts values in the place of variables (`$NAME`); those without a value stay.
    public func withSubstitutionVariables(_ variables: [String: any PredicateArgument]) -> FetchPredicate {
        let constants = variables.mapValues(\.predicateConstant)
        return FetchPredicate(node.substituting(constants), depth: depth)
    }
}

extension PredicateNode {
    fileprivate func substituting(_ constants: [String: PredicateConstant]) -> PredicateNode {
        switch self {
        case .value, .tooDeep: self
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
