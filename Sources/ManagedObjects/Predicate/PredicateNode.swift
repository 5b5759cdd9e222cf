/// A predicate as it was written: names are not looked up yet.
indirect enum PredicateNode: Hashable, Sendable {
    case value(Bool)
    case not(PredicateNode)
    case all([PredicateNode])
    case any([PredicateNode])
    case comparison(PredicateComparison)
    /// Stands for what nested deeper than ``maximumDepth``, which is not kept.
    case tooDeep
}

extension PredicateNode {
    /// How deep predicates may nest: whatever walks through them goes as deep.
    static let maximumDepth = 128

    /// How deep this one nests; 1 for a comparison.
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
    /// What is said of the objects of a to-many relationship.
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
    /// The names of a path; none of them for the object itself.
    ///
    /// A name may be `@count` or the like, and the first one a variable with its `$`.
    case keyPath([String])
    case variable(String)
    /// How many objects it leads to.
    case subquery(PredicateSubquery)
}

extension PredicateOperand {
    /// How deep the predicate in it nests, if there is one.
    fileprivate var depth: Int {
        if case .subquery(let subquery) = self { subquery.predicate.depth } else { 0 }
    }
}
