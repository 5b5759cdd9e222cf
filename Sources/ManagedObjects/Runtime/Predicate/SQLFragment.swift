package import StoreAccess

/// A part of a statement, with the arguments for its `?` in order.
package struct SQLFragment: Hashable, Sendable, ExpressibleByStringInterpolation {
    package var sql: String
    package var arguments: [SQLValue] = []

    package init(_ sql: String, _ arguments: [SQLValue] = []) {
        self.sql = sql
        self.arguments = arguments
    }

    package init(stringLiteral value: String) {
        sql = value
    }

    package init(stringInterpolation: StringInterpolation) {
        sql = stringInterpolation.sql
        arguments = stringInterpolation.arguments
    }

    /// Concatenates fragments with their arguments; literals are copied, values become arguments.
    package struct StringInterpolation: StringInterpolationProtocol {
        var sql = ""
        var arguments: [SQLValue] = []

        package init(literalCapacity: Int, interpolationCount: Int) { sql.reserveCapacity(literalCapacity * 2) }

        package mutating func appendLiteral(_ literal: String) { sql += literal }

        package mutating func appendInterpolation(_ fragment: SQLFragment) {
            sql += fragment.sql
            arguments += fragment.arguments
        }

        /// Appends a name, quoted.
        package mutating func appendInterpolation(name: String) { sql += SQLName.quoted(name) }

        /// Appends a value as an argument.
        package mutating func appendInterpolation(value: SQLValue) {
            sql += "?"
            arguments.append(value)
        }

        /// Appends a trusted alias or number.
        package mutating func appendInterpolation(plain: some CustomStringConvertible) { sql += plain.description }
    }

    /// Joins fragments with a separator.
    static func joined(_ fragments: [SQLFragment], by separator: String) -> SQLFragment {
        SQLFragment(fragments.map(\.sql).joined(separator: separator), fragments.flatMap(\.arguments))
    }
}

extension SQLFragment {
    /// An upper estimate of the entries on SQLite's parser stack at the deepest point.
    ///
    /// Counts the open parentheses, the tokens before each, and the parsed part of a SELECT or CASE.
    var nesting: Int {
        var open: [Int] = []
        var sum = 0
        var deepest = 0
        var isQuoted = false
        var isAfterOpening = true
        var rest = Substring(sql).utf8
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                isQuoted.toggle()
                isAfterOpening = false
            case _ where isQuoted, UInt8(ascii: " "), UInt8(ascii: "\n"): break
            case UInt8(ascii: "("):
                var words = isAfterOpening ? 1 : 3
                if rest.starts(with: "SELECT".utf8) { words += 5 }
                if rest.starts(with: "CASE".utf8) { words += 3 }
                open.append(words)
                sum += words
                deepest = max(deepest, sum)
                isAfterOpening = true
            case UInt8(ascii: ")"):
                sum -= open.popLast() ?? 0
                isAfterOpening = false
            default: isAfterOpening = false
            }
        }
        return deepest
    }
}

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
