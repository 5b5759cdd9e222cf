/// A text exactly as stored: nearly always Unicode, and arbitrary bytes if a program wrote them.
///
/// SQLite does not validate texts. A text that is invalid in its database's encoding keeps its bytes and the encoding,
/// so that it is compared, bound and encoded unchanged. Texts are equal if their bytes are.
public struct SQLText: Sendable {
    /// The encoding of a database; the numbers are SQLite's.
    public enum Encoding: Int32, Hashable, Sendable {
        case utf8 = 1
        case utf16LittleEndian = 2
        case utf16BigEndian = 3

        /// The encoding's name in a record.
        var word: String {
            switch self {
            case .utf8: "utf8"
            case .utf16LittleEndian: "utf16le"
            case .utf16BigEndian: "utf16be"
            }
        }
    }

    private enum Form: Hashable, Sendable {
        case unicode(String)
        /// Never bytes that are valid in the encoding, so that each text has one form.
        case bytes([UInt8], Encoding)
    }

    private let form: Form

    public init(_ string: String) { form = .unicode(string) }

    public init(_ bytes: UnsafeRawBufferPointer, _ encoding: Encoding) {
        if let text = Self.unicode(bytes, encoding) {
            form = .unicode(text)
        } else {
            form = .bytes([UInt8](bytes), encoding)
        }
    }

    /// The text; nil if it is not valid Unicode.
    public var unicode: String? {
        if case .unicode(let text) = form { text } else { nil }
    }

    /// The text for display and names: U+FFFD replaces invalid Unicode.
    public var string: String {
        switch form {
        case .unicode(let text): text
        case .bytes(let bytes, .utf8): String(decoding: bytes, as: UTF8.self)
        case .bytes(let bytes, let encoding):
            bytes.withUnsafeBytes { String(decoding: Self.units($0, encoding), as: UTF16.self) }
        }
    }

    /// Lends the bytes and their encoding, which is UTF-8 for every text that is valid Unicode.
    public func withBytes<R>(_ body: (UnsafeRawBufferPointer, Encoding) throws -> R) rethrows -> R {
        switch form {
        case .unicode(var text): try text.withUTF8 { try body(UnsafeRawBufferPointer($0), .utf8) }
        case .bytes(let bytes, let encoding): try bytes.withUnsafeBytes { try body($0, encoding) }
        }
    }

    public var byteCount: Int { withBytes { bytes, _ in bytes.count } }

    // MARK: Unicode

    private static func unicode(_ bytes: UnsafeRawBufferPointer, _ encoding: Encoding) -> String? {
        if encoding == .utf8 { return String(validating: bytes, as: UTF8.self) }
        guard bytes.count % 2 == 0 else { return nil }
        let units = units(bytes, encoding)
        // SQLite itself changes U+FFFE and U+FFFF when it converts between encodings.
        guard !units.contains(where: { $0 >= 0xfffe }) else { return nil }
        return String(validating: units, as: UTF16.self)
    }

    private static func units(_ bytes: UnsafeRawBufferPointer, _ encoding: Encoding) -> [UInt16] {
        (0..<bytes.count / 2)
            .map { index in
                let unit = bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)
                return encoding == .utf16BigEndian ? UInt16(bigEndian: unit) : UInt16(littleEndian: unit)
            }
    }
}

extension SQLText: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        switch (left.form, right.form) {
        // Swift's String comparison treats canonically equivalent texts as equal; their bytes differ.
        case (.unicode(let one), .unicode(let other)): one.hasSameBytes(as: other)
        default: left.form == right.form
        }
    }

    public func hash(into hasher: inout Hasher) {
        withBytes { bytes, encoding in
            hasher.combine(encoding)
            hasher.combine(bytes: bytes)
            // No text ends in this byte, so it separates the text from the next hashed value.
            hasher.combine(UInt8.max)
        }
    }
}

extension SQLText: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) { self.init(value) }

    /// The text; if it is not valid Unicode, an SQL expression that creates it in its database.
    public var description: String {
        switch form {
        case .unicode(let text): text
        case .bytes(let bytes, _): "CAST(x'\(Self.hexadecimal(bytes))' AS TEXT)"
        }
    }
}

extension SQLText {
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func bytes(ofHexadecimal text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

extension SQLText: Codable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ encoding: Encoding) { stringValue = encoding.word }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Encoded as a string; invalid Unicode becomes an object with one member: its encoding, and its bytes in
    /// hexadecimal.
    public func encode(to encoder: any Encoder) throws {
        switch form {
        case .unicode(let text):
            var container = encoder.singleValueContainer()
            try container.encode(text)
        case .bytes(let bytes, let encoding):
            var container = encoder.container(keyedBy: Name.self)
            try container.encode(Self.hexadecimal(bytes), forKey: Name(encoding))
        }
    }

    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self.init(text)
            return
        }
        let container = try decoder.container(keyedBy: Name.self)
        for encoding in [Encoding.utf8, .utf16LittleEndian, .utf16BigEndian] {
            guard let digits = try container.decodeIfPresent(String.self, forKey: Name(encoding)) else { continue }
            guard let bytes = Self.bytes(ofHexadecimal: digits) else { break }
            self = bytes.withUnsafeBytes { SQLText($0, encoding) }
            return
        }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "a text or its bytes were expected")
        )
    }
}

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
