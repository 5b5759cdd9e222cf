/// Reads the elements of an XML document; text between them is skipped.
///
/// The bytes may be hostile: depth and number of elements are limited, and no input traps. Document type definitions
/// are rejected, so that no entity can expand.
struct XMLElementReader {
    /// The maximum depth of elements; genuine model documents stay below ten.
    private static let depthLimit = 64
    /// The maximum number of elements; the largest genuine models have a few thousand.
    private static let countLimit = 200_000

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var count = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the document's one root element.
    mutating func root() throws -> XMLElement {
        guard let first = try next() else { throw malformed("it has no element") }
        guard case .start(var element, let isEmpty) = first else { throw malformed("it begins with an end tag") }
        if !isEmpty { try readChildren(of: &element, depth: 1) }
        return element
    }

    private enum Tag {
        case start(XMLElement, isEmpty: Bool)
        case end(String)
    }

    private mutating func readChildren(of element: inout XMLElement, depth: Int) throws {
        guard depth < Self.depthLimit else { throw malformed("its elements are nested too deeply") }
        while let tag = try next() {
            switch tag {
            case .end(element.name): return
            case .end(let name): throw malformed("</\(name)> ends an element that was not begun")
            case .start(var child, let isEmpty):
                count += 1
                guard count < Self.countLimit else { throw malformed("it has too many elements") }
                if !isEmpty { try readChildren(of: &child, depth: depth + 1) }
                element.children.append(child)
            }
        }
        throw malformed("<\(element.name)> is not ended")
    }

    /// The next tag; nil at the end of the document.
    private mutating func next() throws -> Tag? {
        while true {
            while position < bytes.count, bytes[position] != UInt8(ascii: "<") { advance() }
            guard position < bytes.count else { return nil }
            if startsHere("<!--") {
                try skip(past: "-->")
            } else if startsHere("<![CDATA[") {
                try skip(past: "]]>")
            } else if startsHere("<?") {
                try skip(past: "?>")
            } else if startsHere("<!") {
                throw malformed("document type definitions are not supported")
            } else {
                advance()
                return try tag()
            }
        }
    }

    private mutating func tag() throws -> Tag {
        if take("/") {
            let name = try name()
            skipSpace()
            guard take(">") else { throw malformed("a tag is not closed") }
            return .end(name)
        }
        let start = line
        let name = try name()
        var attributes: [String: String] = [:]
        while true {
            skipSpace()
            if take("/") {
                guard take(">") else { throw malformed("a tag is not closed") }
                return .start(XMLElement(name: name, attributes: attributes, line: start), isEmpty: true)
            }
            if take(">") { return .start(XMLElement(name: name, attributes: attributes, line: start), isEmpty: false) }
            let key = try self.name()
            skipSpace()
            guard take("=") else { throw malformed("an attribute has no value") }
            skipSpace()
            attributes[key] = try quoted()
        }
    }

    private mutating func name() throws -> String {
        let start = position
        while position < bytes.count, !Self.endsName(bytes[position]) { advance() }
        guard position > start, let name = String(validating: bytes[start..<position], as: UTF8.self) else {
            throw malformed("a name is missing")
        }
        return name
    }

    private mutating func quoted() throws -> String {
        guard position < bytes.count, case let quote = bytes[position],
            quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        else { throw malformed("a value is not quoted") }
        advance()
        var result: [UInt8] = []
        while position < bytes.count, bytes[position] != quote {
            if bytes[position] == UInt8(ascii: "&") {
                result.append(contentsOf: try reference())
            } else {
                result.append(bytes[position])
                advance()
            }
        }
        guard position < bytes.count, let text = String(validating: result, as: UTF8.self) else {
            throw malformed("a value is not ended, or is not text")
        }
        advance()
        return text
    }

    private mutating func reference() throws -> String.UTF8View {
        let name = bytes[(position + 1)...].prefix(10).prefix { $0 != UInt8(ascii: ";") }
        guard name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: ";") else {
            throw malformed("a reference is not ended")
        }
        position = name.endIndex + 1
        switch String(decoding: name, as: UTF8.self) {
        case "lt": return "<".utf8
        case "gt": return ">".utf8
        case "amp": return "&".utf8
        case "apos": return "'".utf8
        case "quot": return "\"".utf8
        case let name where name.hasPrefix("#"):
            let isHexadecimal = name.hasPrefix("#x")
            guard let number = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10),
                let scalar = Unicode.Scalar(number)
            else { throw malformed("a reference does not denote a character") }
            return String(scalar).utf8
        default: throw malformed("a reference is not known")
        }
    }

    // MARK: Bytes

    private mutating func advance() {
        if bytes[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        advance()
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { advance() }
    }

    private mutating func skip(past end: StaticString) throws {
        while position < bytes.count {
            if startsHere(end) {
                position += end.utf8CodeUnitCount
                return
            }
            advance()
        }
        throw malformed("a comment or instruction is not ended")
    }

    private func startsHere(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    private static func endsName(_ byte: UInt8) -> Bool {
        isSpace(byte) || [UInt8(ascii: "="), UInt8(ascii: "/"), UInt8(ascii: ">"), UInt8(ascii: "<")].contains(byte)
    }

    private func malformed(_ reason: String) -> UndecodableData {
        UndecodableData("the model document is malformed in line \(line): \(reason)")
    }
}
