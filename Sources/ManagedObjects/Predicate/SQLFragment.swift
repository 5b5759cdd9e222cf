package import StoreFormat

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
