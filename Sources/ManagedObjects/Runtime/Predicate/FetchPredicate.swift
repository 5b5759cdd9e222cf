package import StoreFormat

/// A condition for objects, in the format of `NSPredicate`.
///
/// It is compiled to SQL for rows of a store and evaluated for objects in memory, with the same result. Every
/// comparison is true or false, never unknown: nil equals nil and differs from every value, and nothing is less or
/// greater than nil. Strings are compared by code point, unless `[c]` or `[d]` ignores case or diacritics. `ALL` is
/// true for no objects. `@sum` of no values is 0, `@avg`, `@min` and `@max` of none are nil, and all four ignore nil. A
/// stored boolean is true for any integer but 0. A predicate that nests too deeply fails when it is used.
public struct FetchPredicate: Hashable, Sendable {
    let node: PredicateNode
    /// The node's depth, cached: computing it again for every compound predicate would be slow.
    private let depth: Int

    init(_ node: PredicateNode) {
        self.init(node, depth: node.depth)
    }

    private init(_ node: PredicateNode, depth: Int) {
        let isTooDeep = depth > PredicateNode.maximumDepth
        self.node = isTooDeep ? .tooDeep : node
        self.depth = isTooDeep ? 1 : depth
    }

    /// Parses a predicate; throws for a syntax error, and for missing or surplus arguments.
    public init(format: String, _ arguments: (any PredicateArgument)?...) throws(PredicateSyntaxError) {
        try self.init(format: format, argumentArray: arguments)
    }

    /// Parses a predicate with an array of arguments.
    public init(format: String, argumentArray: [(any PredicateArgument)?]) throws(PredicateSyntaxError) {
        self.init(try PredicateParser.predicate(format, arguments: argumentArray))
    }

    /// Matches every object or none.
    public init(value: Bool) {
        self.init(.value(value))
    }

    /// Matches objects that all of the predicates match.
    public static func and(_ predicates: [FetchPredicate]) -> FetchPredicate {
        joined(predicates, PredicateNode.all) { if case .all(let nodes) = $0 { nodes } else { nil } }
    }

    /// Matches objects that any of the predicates matches.
    public static func or(_ predicates: [FetchPredicate]) -> FetchPredicate {
        joined(predicates, PredicateNode.any) { if case .any(let nodes) = $0 { nodes } else { nil } }
    }

    /// Matches objects that the predicate does not match.
    public static func not(_ predicate: FetchPredicate) -> FetchPredicate {
        // Double negation cancels, because no result is unknown.
        if case .not(let node) = predicate.node { return FetchPredicate(node, depth: predicate.depth - 1) }
        return FetchPredicate(.not(predicate.node), depth: predicate.depth + 1)
    }

    /// Joins predicates in one level, so that a predicate built step by step does not grow in depth.
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

    /// Replaces variables (`$NAME`) by values; variables without a value remain.
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
            // The subquery's own variable is bound inside it and not replaced.
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

extension FetchPredicate {
    /// Resolves the predicate's names in a model for objects of an entity; throws for names that do not fit.
    package func resolved(
        for entity: String,
        in model: ManagedObjectModel
    ) throws(FetchError) -> ResolvedPredicate {
        guard model.entitiesByName[entity] != nil else { throw FetchError(unknown: entity, in: model) }
        let resolver = PredicateResolver(model: model, entity: entity)
        return ResolvedPredicate(entity: entity, node: try resolver.node(node))
    }
}

/// An object that a predicate can be evaluated for.
///
/// Callers pass only names of properties of the object's entity, and of the right kind.
package protocol PredicateSubject {
    var objectID: ManagedObjectID { get }
    /// The position among unsaved objects.
    var predicateOrder: Int { get }
    /// The name of the object's concrete entity; nil when its row is missing.
    func predicateEntityName() throws -> String?
    /// The permanent ID of the object with a temporary ID, if this object's context knows it.
    func predicateID(since temporary: ManagedObjectID) -> ManagedObjectID?
    /// The value of an attribute.
    func predicateValue(of attribute: String) throws -> AttributeValue
    /// The ID of the destination of a to-one relationship.
    func predicateDestinationID(of relationship: String) throws -> ManagedObjectID?
    /// The destination of a to-one relationship; without values when its row is missing.
    func predicateDestination(of relationship: String) throws -> (any PredicateSubject)?
    /// The existing destinations of a to-many relationship.
    func predicateDestinations(of relationship: String) throws -> [any PredicateSubject]
}

extension PredicateSubject {
    package var predicateOrder: Int { 0 }
    package func predicateID(since temporary: ManagedObjectID) -> ManagedObjectID? { nil }
}
