/// Splits a predicate format into tokens.
///
/// It works on Unicode scalars: a combining mark after a quotation mark belongs to the string, not to the mark.
struct PredicateLexer {
    private static let symbols = ["<=", ">=", "=<", "=>", "!=", "<>", "==", "&&", "||"].map { Array($0.unicodeScalars) }
    private static let singleSymbols: Set<Unicode.Scalar> = [
        "=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ",", ".", "-",
    ]
    /// The letters that may follow `%` and C length modifiers.
    private static let argumentLetters: Set<Unicode.Scalar> = [
        "@", "K", "d", "i", "u", "f", "g", "e", "D", "U", "x", "X",
    ]

    private let scalars: [Unicode.Scalar]
    private var position = 0

    /// Returns the tokens of a format; the last one is the end.
    static func tokens(of format: String) throws(PredicateSyntaxError) -> [PredicateToken] {
        var lexer = PredicateLexer(Array(format.unicodeScalars))
        var tokens: [PredicateToken] = []
        while true {
            let token = try lexer.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    private init(_ scalars: [Unicode.Scalar]) {
        self.scalars = scalars
    }

    private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        let index = position + offset
        return index < scalars.count ? scalars[index] : nil
    }

    private func text(_ range: Range<Int>) -> String {
        String(String.UnicodeScalarView(scalars[range]))
    }

    private func error(_ message: String, at index: Int? = nil) -> PredicateSyntaxError {
        PredicateSyntaxError(column: (index ?? position) + 1, message: message)
    }

    private mutating func next() throws(PredicateSyntaxError) -> PredicateToken {
        while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
        let start = position
        let kind = try kind()
        return PredicateToken(kind: kind, column: start + 1)
    }

    private mutating func kind() throws(PredicateSyntaxError) -> PredicateToken.Kind {
        guard let scalar = peek() else { return .end }
        switch scalar {
        case "'", "\"": return .string(try string(quote: scalar))
        case "%": return .argument(try argument())
        case "$", "#", "@":
            position += 1
            guard let name = word() else { throw error("a name must follow '\(scalar)'") }
            return scalar == "$" ? .variable(name) : scalar == "#" ? .name(name) : .collectionOperator(name)
        default: break
        }
        if Self.isDigit(scalar) || (scalar == "." && peek(1).map(Self.isDigit) == true) { return try number() }
        if let word = word() { return .word(word) }
        for symbol in Self.symbols where symbol.first == scalar && symbol.last == peek(1) {
            position += 2
            return .symbol(text(position - 2..<position))
        }
        guard Self.singleSymbols.contains(scalar) else { throw error("unexpected '\(scalar)'") }
        position += 1
        return .symbol(String(scalar))
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func isHexDigit(_ scalar: Unicode.Scalar) -> Bool {
        isDigit(scalar) || ("a"..."f").contains(scalar) || ("A"..."F").contains(scalar)
    }

    private static func startsName(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isXIDStart || scalar == "_" }

    private static func continuesName(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isXIDContinue }

    private mutating func word() -> String? {
        guard let first = peek(), Self.startsName(first) else { return nil }
        let start = position
        while let scalar = peek(), Self.continuesName(scalar) { position += 1 }
        return text(start..<position)
    }

    // MARK: Arguments

    private mutating func argument() throws(PredicateSyntaxError) -> Unicode.Scalar {
        let start = position
        position += 1
        while let length = peek(), "hlqzt".unicodeScalars.contains(length) { position += 1 }
        guard let letter = peek(), Self.argumentLetters.contains(letter) else {
            throw error("after '%' one of @, K, d, i, u, x, f, g is expected", at: start)
        }
        position += 1
        return letter
    }

    // MARK: Literals

    private mutating func string(quote: Unicode.Scalar) throws(PredicateSyntaxError) -> String {
        let start = position
        position += 1
        var text = String.UnicodeScalarView()
        while let scalar = peek() {
            position += 1
            if scalar == quote { return String(text) }
            guard scalar == "\\" else {
                text.append(scalar)
                continue
            }
            guard let escaped = peek() else { break }
            position += 1
            switch escaped {
            case "n": text.append("\n")
            case "t": text.append("\t")
            case "r": text.append("\r")
            case "u": text.append(try escapedScalar())
            default: text.append(escaped)
            }
        }
        throw error("this string has no closing \(quote)", at: start)
    }

    private mutating func escapedScalar() throws(PredicateSyntaxError) -> Unicode.Scalar {
        let digits = scalars[position..<min(position + 4, scalars.count)]
        guard digits.count == 4, digits.allSatisfy(Self.isHexDigit),
            let value = UInt32(self.text(digits.indices), radix: 16),
            let result = Unicode.Scalar(value)
        else { throw error("four hexadecimal digits of a character are expected after \\u") }
        position += 4
        return result
    }

    private mutating func number() throws(PredicateSyntaxError) -> PredicateToken.Kind {
        let start = position
        if peek() == "0", let mark = peek(1), mark == "x" || mark == "X" {
            position += 2
            let first = position
            while let scalar = peek(), Self.isHexDigit(scalar) { position += 1 }
            guard let value = Int64(text(first..<position), radix: 16) else {
                throw error("this is not a hexadecimal number of up to 63 bits", at: start)
            }
            return try ended(.integer(value), since: start)
        }
        digits()
        var isReal = false
        if peek() == ".", peek(1).map(Self.isDigit) == true {
            isReal = true
            position += 1
            digits()
        }
        if let mark = peek(), mark == "e" || mark == "E" {
            let sign = peek(1)
            let isSigned = sign == "+" || sign == "-"
            if peek(isSigned ? 2 : 1).map(Self.isDigit) == true {
                isReal = true
                position += isSigned ? 2 : 1
                digits()
            }
        }
        let text = text(start..<position)
        if !isReal, let value = Int64(text) { return try ended(.integer(value), since: start) }
        guard let value = Double(text), value.isFinite else { throw error("this number is too large", at: start) }
        return try ended(.real(value), since: start)
    }

    private mutating func digits() {
        while let scalar = peek(), Self.isDigit(scalar) { position += 1 }
    }

    private func ended(_ kind: PredicateToken.Kind, since start: Int) throws(PredicateSyntaxError)
        -> PredicateToken.Kind
    {
        if let scalar = peek(), Self.continuesName(scalar) {
            throw error("a number is directly followed by a name", at: start)
        }
        return kind
    }
}

/// One token of a predicate format.
struct PredicateToken: Hashable, Sendable {
    /// The kind of a token.
    enum Kind: Hashable, Sendable {
        /// A name or a keyword; the parser distinguishes them.
        case word(String)
        /// A name escaped by `#`, which is never a keyword.
        case name(String)
        case integer(Int64)
        case real(Double)
        case string(String)
        case variable(String)
        /// `%@`, `%K`, `%d` and other placeholders.
        case argument(Unicode.Scalar)
        /// A collection operator such as `@count`.
        case collectionOperator(String)
        case symbol(String)
        case end
    }

    let kind: Kind
    /// The column of its first character, counted from 1.
    let column: Int
}
