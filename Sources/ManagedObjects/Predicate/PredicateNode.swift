/// A predicate as it was written: names are not looked up yet.
indirect enum PredicateNode: Hashable, Sendable {
    case value(Bool)
    case not(PredicateNode)
    case all([PredicateNode])
    case any([PredicateNode])
    case comparison(PredicateComparison)
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
