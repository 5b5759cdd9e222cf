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
