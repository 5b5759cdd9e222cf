internal import StoreFormat

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
