/// A parsed predicate whose names are not resolved yet.
indirect enum PredicateNode: Hashable, Sendable {
    case value(Bool)
    case not(PredicateNode)
    case all([PredicateNode])
    case any([PredicateNode])
    case comparison(PredicateComparison)
    /// A predicate nested deeper than ``maximumDepth``, whose content is dropped.
    case tooDeep
}

extension PredicateNode {
    /// The maximum nesting depth, which bounds the recursion of every function over predicates.
    static let maximumDepth = 128

    /// The nesting depth; 1 for a comparison.
    var depth: Int {
        switch self {
        case .value, .tooDeep: 1
        case .not(let node): 1 + node.depth
        case .all(let nodes), .any(let nodes): 1 + (nodes.lazy.map(\.depth).max() ?? 0)
        case .comparison(let comparison): 1 + max(comparison.left.depth, comparison.right.depth)
        }
    }
}

/// One comparison of a predicate.
struct PredicateComparison: Hashable, Sendable {
    /// The quantifier over the objects of a to-many relationship.
    enum Modifier: Hashable, Sendable {
        case direct
        case any
        case all
        case none
    }

    enum Operator: Hashable, Sendable {
        case equal
        case notEqual
        case less
        case lessOrEqual
        case greater
        case greaterOrEqual
        case string(StringOperator)
        case isIn
        case between
    }

    var modifier = Modifier.direct
    let left: PredicateOperand
    let comparison: Operator
    var options: StringOptions = []
    let right: PredicateOperand
}

/// One side of a comparison.
indirect enum PredicateOperand: Hashable, Sendable {
    case constant(PredicateConstant)
    /// The names of a path; empty for the object itself.
    ///
    /// A name may be an operator such as `@count`, and the first one a variable with its `$`.
    case keyPath([String])
    case variable(String)
    /// The number of objects that a subquery finds.
    case subquery(PredicateSubquery)
}

extension PredicateOperand {
    /// The nesting depth of the predicate in it, if there is one.
    fileprivate var depth: Int {
        if case .subquery(let subquery) = self { subquery.predicate.depth } else { 0 }
    }
}
