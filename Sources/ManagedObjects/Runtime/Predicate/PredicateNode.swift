import StoreAccess
public import StoreFormat

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

/// A value that objects are compared with.
public enum PredicateConstant: Hashable, Sendable {
    case value(AttributeValue)
    case object(ManagedObjectID)
    case collection([PredicateConstant])
}

/// The objects of a to-many relationship that match a predicate; only their count is available.
struct PredicateSubquery: Hashable, Sendable {
    /// The path to the relationship.
    let collection: [String]
    /// The predicate's variable for one of the objects, without the `$`.
    let variable: String
    let predicate: PredicateNode
}

/// An aggregate of the values of all objects in a to-many relationship; ignores nil.
enum PredicateAggregate: String, Hashable, Sendable {
    /// 0 for no values.
    case sum
    /// Nil for no values, like the following cases.
    case average = "avg"
    case minimum = "min"
    case maximum = "max"

    /// True when only numbers have this aggregate.
    var isNumeric: Bool { self == .sum || self == .average }

    /// The aggregate, independent of the order of the values.
    func value(of values: [SQLValue]) -> SQLValue {
        let known = values.filter { $0 != .null }.sorted { $0.compared(to: $1) < 0 }
        switch self {
        case .minimum: return known.first ?? .null
        case .maximum: return known.last ?? .null
        case .sum: return Self.sum(known)
        case .average:
            let numbers = known.compactMap(\.number)
            guard !numbers.isEmpty else { return .null }
            return Self.real(numbers.reduce(0, +) / Double(numbers.count))
        }
    }

    /// An integer if all values are integers and the sum does not overflow, else a real.
    private static func sum(_ values: [SQLValue]) -> SQLValue {
        var sum: Int64 = 0
        var isWhole = true
        for value in values where value.number != nil {
            guard case .integer(let number) = value else {
                isWhole = false
                break
            }
            let (result, overflow) = sum.addingReportingOverflow(number)
            if overflow { isWhole = false }
            sum = result
        }
        return isWhole ? .integer(sum) : real(values.compactMap(\.number).reduce(0, +))
    }

    /// Null for NaN, which SQLite cannot store.
    private static func real(_ value: Double) -> SQLValue { value.isNaN ? .null : .real(value) }

    // MARK: SQL

    /// Parses the numbers that SQL concatenated, each as written by `quote`.
    static func numbers(in text: String) -> [SQLValue] {
        text.split(separator: " ")
            .compactMap { word in
                Int64(word).map(SQLValue.integer) ?? Double(word).map(SQLValue.real)
            }
    }
}
