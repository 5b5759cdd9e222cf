internal import FoundationEssentials
internal import StoreFormat

extension PredicateParser {
    private static let unsupportedFunctions: Set<String> = ["FUNCTION", "TERNARY"]

    /// Parses one side of a comparison.
    mutating func operand() throws(PredicateSyntaxError) -> PredicateOperand {
        if let keyword, Self.unsupportedFunctions.contains(keyword), tokens[position + 1].kind == .symbol("(") {
            throw error("\(keyword) is not supported")
        }
        if isSubquery { return .subquery(try subquery()) }
        switch current.kind {
        case .variable(let name):
            advance()
            return current.kind == .symbol(".") ? .keyPath(try keyPath(from: ["$" + name])) : .variable(name)
        case .argument("K"):
            guard case .value(.string(let path)) = try nextArgument() else {
                throw error("the argument of %K must be a string with a key path")
            }
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard names.allSatisfy({ !$0.isEmpty }) else { throw error("the argument of %K is not a key path") }
            advance()
            return .keyPath(try keyPath(from: Self.withoutSelf(names)))
        case .name(let name):
            advance()
            return .keyPath(try keyPath(from: [name]))
        case .word(let word):
            if let constant = try literal() { return .constant(constant) }
            advance()
            return .keyPath(try keyPath(from: Self.withoutSelf([word])))
        default: return .constant(try constant())
        }
    }

    private var isSubquery: Bool { keyword == "SUBQUERY" && tokens[position + 1].kind == .symbol("(") }

    /// Parses `SUBQUERY(path, $variable, predicate).@count`.
    private mutating func subquery() throws(PredicateSyntaxError) -> PredicateSubquery {
        advance()
        try expect("(")
        guard !isSubquery, case .keyPath(let collection) = try operand(), !collection.isEmpty else {
            throw error("a key path to a to-many relationship is expected")
        }
        try expect(",")
        guard case .variable(let variable) = current.kind else { throw error("a variable such as $x is expected") }
        advance()
        try expect(",")
        let predicate = try disjunction()
        try expect(")")
        guard take("."), current.kind == .collectionOperator("count") else {
            throw error(".@count must follow a SUBQUERY")
        }
        advance()
        return PredicateSubquery(collection: collection, variable: variable, predicate: predicate)
    }

    /// Parses the path after its first name.
    private mutating func keyPath(from names: [String]) throws(PredicateSyntaxError) -> [String] {
        var names = names
        while take(".") {
            switch current.kind {
            case .word(let name), .name(let name): names.append(name)
            case .collectionOperator(let name): names.append("@" + name)
            case .argument("K"):
                guard case .value(.string(let path)) = try nextArgument() else {
                    throw error("the argument of %K must be a string with a key path")
                }
                names += path.split(separator: ".").map(String.init)
            default: throw error("a key is expected after '.'")
            }
            advance()
        }
        return names
    }

    /// Removes `SELF` or `objectID` at the start of a path, which refer to the object itself.
    private static func withoutSelf(_ names: [String]) -> [String] {
        ["SELF", "OBJECTID"].contains(names.first?.uppercased()) ? Array(names.dropFirst()) : names
    }

    // MARK: Constants

    private mutating func constant() throws(PredicateSyntaxError) -> PredicateConstant {
        if let constant = try literal() { return constant }
        switch current.kind {
        case .string(let text):
            advance()
            return .value(.string(text))
        case .integer(let number):
            advance()
            return .value(.integer(number))
        case .real(let number):
            advance()
            return .value(.real(number))
        case .symbol("-"):
            advance()
            return .value(try negative())
        case .symbol("{"):
            return .collection(try elements())
        case .argument(let letter) where letter != "K":
            let argument = try nextArgument()
            if letter != "@", case .value(let value) = argument, value.number == nil {
                throw error("the argument of %\(letter) must be a number")
            }
            advance()
            return argument
        default: throw error("a key or a value is expected")
        }
    }

    /// Parses a keyword for a value; nil for any other word.
    private mutating func literal() throws(PredicateSyntaxError) -> PredicateConstant? {
        if takeKeyword("TRUE", "YES") { return .value(.boolean(true)) }
        if takeKeyword("FALSE", "NO") { return .value(.boolean(false)) }
        if takeKeyword("NULL", "NIL") { return .value(.null) }
        guard let keyword, tokens[position + 1].kind == .symbol("(") else { return nil }
        switch keyword {
        case "NOW":
            advance()
            advance()
            try expect(")")
            return .value(.date(Date.now))
        case "CAST":
            advance()
            advance()
            return try cast()
        default: throw error("a function of this name is not supported")
        }
    }

    private mutating func negative() throws(PredicateSyntaxError) -> AttributeValue {
        defer { advance() }
        switch current.kind {
        case .integer(let number): return .integer(-number)
        case .real(let number): return .real(-number)
        default: throw error("a number is expected after '-'")
        }
    }

    private mutating func elements() throws(PredicateSyntaxError) -> [PredicateConstant] {
        try expect("{")
        var elements: [PredicateConstant] = []
        if take("}") { return elements }
        repeat {
            guard current.kind != .symbol("{") else { throw error("a collection cannot contain a collection") }
            elements.append(try constant())
        } while take(",")
        try expect("}")
        return elements
    }

    /// Parses the rest of `CAST(seconds, "NSDate")`.
    private mutating func cast() throws(PredicateSyntaxError) -> PredicateConstant {
        guard case .value(let value) = try constant(), let seconds = value.number, seconds.isFinite else {
            throw error("a number of seconds since 2001 is expected")
        }
        try expect(",")
        guard case .string("NSDate") = current.kind else { throw error("only a cast to \"NSDate\" is supported") }
        advance()
        try expect(")")
        return .value(.date(Date(timeIntervalSinceReferenceDate: seconds)))
    }
}
