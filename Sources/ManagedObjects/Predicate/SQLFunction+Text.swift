package import StoreFormat

extension SQLFunction {
    /// The SQL function that matches a text against a pattern: value, operator, options, pattern.
    static let textMatches = "store_text_matches"
    /// The SQL function that folds a text: value, options.
    static let textFolded = "store_text_folded"
    /// The SQL function that aggregates numbers: the numbers in one text, and the name of the aggregate.
    static let numbersSummed = "store_numbers_summed"

    /// The functions that compiled predicates and sort orders call; install them before running a statement.
    package static func forPredicates() -> [SQLFunction] {
        let kept = KeptMatchers()
        return [
            SQLFunction(name: textMatches, argumentCount: 4) { arguments in
                guard arguments.count == 4, case .text(let text) = arguments[0], case .text(let pattern) = arguments[3],
                    let comparison = arguments[1].integer.flatMap(StringOperator.init),
                    let options = arguments[2].integer
                else { return .integer(0) }
                let matches = try kept.matches(
                    text.string,
                    comparison,
                    StringOptions(rawValue: UInt8(truncatingIfNeeded: options)),
                    pattern.string
                )
                return .integer(matches ? 1 : 0)
            },
            SQLFunction(name: textFolded, argumentCount: 2) { arguments in
                guard arguments.count == 2, case .text(let text) = arguments[0], let options = arguments[1].integer
                else { return arguments.first ?? .null }
                return .text(StringOptions(rawValue: UInt8(truncatingIfNeeded: options)).folded(text.string))
            },
            SQLFunction(name: numbersSummed, argumentCount: 2) { arguments in
                guard arguments.count == 2, let aggregate = arguments[1].text.flatMap(PredicateAggregate.init) else {
                    return .null
                }
                return aggregate.value(of: PredicateAggregate.numbers(in: arguments[0].text ?? ""))
            },
        ]
    }
}
