/// Splits SQL text into the few token kinds that parsing a stored definition needs; accepts any text.
package struct SQLTokenizer {
    /// One token of SQL.
    package enum Token: Equatable {
        /// A word outside quotes, as written.
        case word(String)
        /// The content of quotes or brackets.
        case quoted(String)
        /// Any other character.
        case symbol(UInt8)
    }

    private let bytes: [UInt8]
    private var position = 0

    package init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// Returns the next token, skipping white space and comments; nil at the end.
    package mutating func next() -> Token? {
        skipBlanks()
        guard let first = peek() else { return nil }
        switch first {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): return quoted(until: first)
        case UInt8(ascii: "["): return quoted(until: UInt8(ascii: "]"))
        case let byte where Self.isWordByte(byte):
            let start = position
            while let byte = peek(), Self.isWordByte(byte) { position += 1 }
            return .word(String(decoding: bytes[start..<position], as: UTF8.self))
        default:
            position += 1
            return .symbol(first)
        }
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private mutating func skipBlanks() {
        while let byte = peek() {
            if byte == 32 || (9...13).contains(byte) {
                position += 1
            } else if byte == UInt8(ascii: "-"), peek(1) == byte {
                while let byte = peek(), byte != 10 { position += 1 }
            } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
                position += 2
                while let byte = peek(), !(byte == UInt8(ascii: "*") && peek(1) == UInt8(ascii: "/")) { position += 1 }
                position = min(position + 2, bytes.count)
            } else {
                return
            }
        }
    }

    private mutating func quoted(until end: UInt8) -> Token {
        position += 1
        var content: [UInt8] = []
        while let byte = peek() {
            position += 1
            if byte == end {
                // A doubled quote denotes the quote itself; brackets cannot be doubled.
                guard end != UInt8(ascii: "]"), peek() == end else { break }
                position += 1
            }
            content.append(byte)
        }
        return .quoted(String(decoding: content, as: UTF8.self))
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xff:
            true
        default: false
        }
    }
}

extension SQLTokenizer.Token {
    /// True for this word in upper or lower case.
    package func isWord(_ word: String) -> Bool {
        if case .word(let text) = self { text.lowercased() == word.lowercased() } else { false }
    }

    /// The name in a word or a quoted token.
    package var name: String? {
        switch self {
        case .word(let text), .quoted(let text): text
        case .symbol: nil
        }
    }
}
