/// Quotes identifiers in SQL text; every name from a database must enter a statement this way.
package enum SQLName {
    /// Returns the identifier in double quotes, with the double quotes inside it doubled.
    package static func quoted(_ identifier: String) -> String {
        var result = "\""
        result.reserveCapacity(identifier.utf8.count + 2)
        for character in identifier.unicodeScalars {
            if character == "\"" { result.unicodeScalars.append(character) }
            result.unicodeScalars.append(character)
        }
        result.append("\"")
        return result
    }

    /// Returns the text as an SQL string literal in single quotes.
    package static func literal(_ text: String) -> String {
        var result = "'"
        for character in text.unicodeScalars {
            if character == "'" { result.unicodeScalars.append(character) }
            result.unicodeScalars.append(character)
        }
        result.append("'")
        return result
    }
}
