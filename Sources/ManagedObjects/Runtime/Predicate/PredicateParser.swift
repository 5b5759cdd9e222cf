internal import FoundationEssentials
internal import StoreFormat

/// Parses a predicate format in one pass over its tokens, by recursive descent.
struct PredicateParser {
    /// The maximum nesting depth of parentheses and negations.
    private static let maximumDepth = 100

    var tokens: [PredicateToken]
    var position = 0
    private var arguments: ArraySlice<(any PredicateArgument)?>
    private var depth = 0

    static func predicate(
        _ format: String,
        arguments: [(any PredicateArgument)?]
    ) throws(PredicateSyntaxError) -> PredicateNode {
        var parser = PredicateParser(tokens: try PredicateLexer.tokens(of: format), arguments: arguments[...])
        let node = try parser.disjunction()
        guard parser.current.kind == .end else {
            throw parser.error("AND, OR or the end of the predicate is expected")
        }
        guard parser.arguments.isEmpty else {
            throw parser.error("too many arguments: \(parser.arguments.count) unused")
        }
        return node
    }

    private init(tokens: [PredicateToken], arguments: ArraySlice<(any PredicateArgument)?>) {
        self.tokens = tokens
        self.arguments = arguments
    }

    // MARK: Words

    var current: PredicateToken { tokens[position] }

    /// Moves to the next token; stays at the last one, the end.
    mutating func advance() { position = min(position + 1, tokens.count - 1) }

    func error(_ message: String) -> PredicateSyntaxError {
        PredicateSyntaxError(column: current.column, message: message)
    }

    /// Consumes one of the given symbols.
    mutating func take(_ symbols: String...) -> Bool {
        guard case .symbol(let symbol) = current.kind, symbols.contains(symbol) else { return false }
        advance()
        return true
    }

    /// The current word in upper case, as a possible keyword.
    var keyword: String? {
        if case .word(let word) = current.kind { word.uppercased() } else { nil }
    }

    /// Consumes one of the given keywords.
    mutating func takeKeyword(_ keywords: String...) -> Bool {
        guard let keyword, keywords.contains(keyword) else { return false }
        advance()
        return true
    }

    mutating func expect(_ symbol: String) throws(PredicateSyntaxError) {
        guard take(symbol) else { throw error("'\(symbol)' is expected") }
    }

    /// Consumes the argument of the current placeholder.
    mutating func nextArgument() throws(PredicateSyntaxError) -> PredicateConstant {
        guard let argument = arguments.popFirst() else { throw error("the argument of this placeholder is missing") }
        return argument?.predicateConstant ?? .value(.null)
    }

    // MARK: Compounds

    mutating func disjunction() throws(PredicateSyntaxError) -> PredicateNode {
        var nodes = [try conjunction()]
        while takeKeyword("OR") || take("||") { nodes.append(try conjunction()) }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    private mutating func conjunction() throws(PredicateSyntaxError) -> PredicateNode {
        var nodes = [try negation()]
        while takeKeyword("AND") || take("&&") { nodes.append(try negation()) }
        return nodes.count == 1 ? nodes[0] : .all(nodes)
    }

    private mutating func negation() throws(PredicateSyntaxError) -> PredicateNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw error("the predicate nests too deeply") }
        if takeKeyword("NOT") || take("!") { return .not(try negation()) }
        if take("(") {
            let node = try disjunction()
            try expect(")")
            return node
        }
        if takeKeyword("TRUEPREDICATE") { return .value(true) }
        if takeKeyword("FALSEPREDICATE") { return .value(false) }
        return .comparison(try comparison())
    }

    // MARK: Comparisons

    private mutating func comparison() throws(PredicateSyntaxError) -> PredicateComparison {
        let modifier: PredicateComparison.Modifier =
            if takeKeyword("ANY", "SOME") {
                .any
            } else if takeKeyword("ALL") {
                .all
            } else if takeKeyword("NONE") {
                .none
            } else {
                .direct
            }
        let left = try operand()
        let comparison = try comparisonOperator()
        let options = try options()
        return PredicateComparison(
            modifier: modifier,
            left: left,
            comparison: comparison,
            options: options,
            right: try operand()
        )
    }

    private mutating func comparisonOperator() throws(PredicateSyntaxError) -> PredicateComparison.Operator {
        let comparison: PredicateComparison.Operator? =
            switch current.kind {
            case .symbol("="), .symbol("=="): .equal
            case .symbol("!="), .symbol("<>"): .notEqual
            case .symbol("<"): .less
            case .symbol("<="), .symbol("=<"): .lessOrEqual
            case .symbol(">"): .greater
            case .symbol(">="), .symbol("=>"): .greaterOrEqual
            case .word:
                switch keyword {
                case "IN": .isIn
                case "BETWEEN": .between
                case "BEGINSWITH": .string(.beginsWith)
                case "ENDSWITH": .string(.endsWith)
                case "CONTAINS": .string(.contains)
                case "LIKE": .string(.like)
                case "MATCHES": .string(.matches)
                default: nil
                }
            default: nil
            }
        guard let comparison else { throw error("an operator is expected") }
        advance()
        return comparison
    }

    private mutating func options() throws(PredicateSyntaxError) -> StringOptions {
        guard take("[") else { return [] }
        guard case .word(let letters) = current.kind else { throw error("c, d or cd is expected") }
        var options: StringOptions = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            // Strings are always compared by code point.
            case "n": break
            default: throw error("the option '\(letter)' is not supported; c, d and cd are")
            }
        }
        advance()
        try expect("]")
        return options
    }
}

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

/// A syntax error in a predicate format, with its position.
public struct PredicateSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The column of the first character that cannot be parsed, counted from 1.
    public let column: Int
    /// The problem at that column, as a lower-case fragment.
    public let message: String

    public var description: String { "column \(column) of the predicate: \(message)" }
}
