package import StoreFormat

extension KeyedArchiveWriter {
    /// Adds the expression of a derived attribute; returns the null reference for an unknown form.
    package mutating func expression(_ text: String) -> PropertyListValue {
        if text.hasSuffix(".@count") {
            return function("count:", [keyPath(String(text.dropLast(".@count".count)))])
        }
        guard let parenthesis = text.firstIndex(of: "(") else { return keyPath(text) }
        guard text.hasSuffix(")") else { return Self.null }
        let name = String(text[..<parenthesis])
        let argument = text[text.index(after: parenthesis)...].dropLast()
        if argument.isEmpty { return function(name, []) }
        guard Self.isKeyPath(argument) else { return Self.null }
        return function(name, [keyPath(String(argument))])
    }

    private static func isKeyPath(_ text: Substring) -> Bool {
        text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    }

    private mutating func function(_ name: String, _ arguments: [PropertyListValue]) -> PropertyListValue {
        let operand = object(
            ["NSConstantValueExpression", "NSExpression", "NSObject"],
            ["NSExpressionType": .integer(0), "NSConstantValueClassName": string("_NSPredicateUtilities")]
        )
        return object(
            ["NSFunctionExpression", "NSExpression", "NSObject"],
            [
                "NSExpressionType": .integer(4), "NSOperand": operand, "NSSelectorName": string(name),
                "NSArguments": array(arguments),
            ]
        )
    }

    private mutating func keyPath(_ path: String) -> PropertyListValue {
        let specifier = object(
            ["NSKeyPathSpecifierExpression", "NSExpression", "NSObject"],
            ["NSExpressionType": .integer(10), "NSKeyPath": string(path)]
        )
        let operand = object(
            ["NSSelfExpression", "NSExpression", "NSObject"],
            ["NSExpressionType": .integer(1)]
        )
        return object(
            ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression", "NSObject"],
            [
                "NSExpressionType": .integer(3), "NSOperand": operand,
                "NSSelectorName": string(path.contains(".") ? "valueForKeyPath:" : "valueForKey:"),
                "NSArguments": array([specifier], mutable: true),
            ]
        )
    }
}
