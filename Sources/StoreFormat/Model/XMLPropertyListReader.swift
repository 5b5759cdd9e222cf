/// Decodes the XML form of property lists as it occurs: no internal DTD subsets, no namespaces.
struct XMLPropertyListReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Decodes the list's one root.
    mutating func topValue() throws -> PropertyListValue {
        var tag = try nextTag()
        let isWrapped = tag == "plist"
        if isWrapped { tag = try nextTag() }
        let result = try value(tag, depth: 0)
        if isWrapped, try nextTag() != "/plist" { throw malformed }
        return result
    }

    private var malformed: UndecodableData { UndecodableData("the XML property list is malformed") }

    // MARK: Values

    private mutating func value(_ tag: String, depth: Int) throws -> PropertyListValue {
        guard depth < PropertyListReader.depthLimit else {
            throw UndecodableData("the property list is nested too deeply")
        }
        switch tag {
        case "dict": return .dictionary(try dictionary(depth: depth))
        case "array": return .array(try array(depth: depth))
        case "dict/": return .dictionary([:])
        case "array/": return .array([])
        case "string/": return .string("")
        case "data/": return .data([])
        case "true/": return .boolean(true)
        case "false/": return .boolean(false)
        case "true", "false":
            _ = try text(until: tag)
            return .boolean(tag == "true")
        case "string": return .string(try text(until: tag))
        case "integer":
            guard let number = Int64(Self.trimmed(try text(until: tag))) else { throw malformed }
            return .integer(number)
        case "real":
            guard let number = Double(Self.trimmed(try text(until: tag))) else { throw malformed }
            return .real(number)
        case "date":
            guard let date = Self.date(Self.trimmed(try text(until: tag))) else { throw malformed }
            return .date(date)
        case "data":
            guard let data = Self.base64(try text(until: tag)) else { throw malformed }
            return .data(data)
        default: throw malformed
        }
    }

    private mutating func array(depth: Int) throws -> [PropertyListValue] {
        var result: [PropertyListValue] = []
        while true {
            let tag = try nextTag()
            if tag == "/array" { return result }
            result.append(try value(tag, depth: depth + 1))
        }
    }

    /// Also accepts the form in which an archive writes a reference: a dictionary with the single key `CF$UID`.
    private mutating func dictionary(depth: Int) throws -> [String: PropertyListValue] {
        var result: [String: PropertyListValue] = [:]
        while true {
            let tag = try nextTag()
            if tag == "/dict" { return result }
            guard tag == "key" || tag == "key/" else { throw malformed }
            let key = tag == "key" ? try text(until: "key") : ""
            var member = try value(try nextTag(), depth: depth + 1)
            if case .dictionary(let inner) = member, inner.count == 1, case .integer(let uid)? = inner["CF$UID"] {
                guard let uid = Int(exactly: uid) else { throw malformed }
                member = .uid(uid)
            }
            result[key] = member
        }
    }

    // MARK: Text

    /// The next tag: its name, preceded by the slash of an end tag, or followed by that of an empty element.
    private mutating func nextTag() throws -> String {
        while true {
            while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
            guard position < bytes.count, bytes[position] == UInt8(ascii: "<") else { throw malformed }
            if startsHere("<!--") {
                try skip(past: "-->")
            } else if startsHere("<?") {
                try skip(past: "?>")
            } else if startsHere("<!") {
                try skip(past: ">")
            } else {
                let start = position + 1
                try skip(past: ">")
                return try Self.tag(bytes[start..<position - 1])
            }
        }
    }

    private static func tag(_ content: ArraySlice<UInt8>) throws -> String {
        let name = content.prefix { !isSpace($0) }
        let isEmpty = content.last == UInt8(ascii: "/") && name.count < content.count
        return String(decoding: name, as: UTF8.self) + (isEmpty ? "/" : "")
    }

    private mutating func text(until tag: String) throws -> String {
        var result: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            if startsHere("<![CDATA[") {
                let start = position + 9
                try skip(past: "]]>")
                guard start <= position - 3 else { throw malformed }
                result.append(contentsOf: bytes[start..<position - 3])
            } else if byte == UInt8(ascii: "<") {
                guard try nextTag() == "/" + tag else { throw malformed }
                return String(decoding: result, as: UTF8.self)
            } else if byte == UInt8(ascii: "&") {
                result.append(contentsOf: try reference())
            } else {
                result.append(byte)
                position += 1
            }
        }
        throw malformed
    }

    private mutating func reference() throws -> String.UTF8View {
        let name = bytes[(position + 1)...].prefix(10).prefix { $0 != UInt8(ascii: ";") }
        position = name.endIndex + 1
        guard name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: ";") else { throw malformed }
        switch String(decoding: name, as: UTF8.self) {
        case "lt": return "<".utf8
        case "gt": return ">".utf8
        case "amp": return "&".utf8
        case "apos": return "'".utf8
        case "quot": return "\"".utf8
        case let name where name.hasPrefix("#"):
            let isHexadecimal = name.hasPrefix("#x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            guard
                let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(number)
            else { throw malformed }
            return String(scalar).utf8
        default: throw malformed
        }
    }

    private func startsHere(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    private mutating func skip(past end: String) throws {
        let end = Array(end.utf8)
        while position <= bytes.count - end.count {
            if bytes[position..<position + end.count].elementsEqual(end) {
                position += end.count
                return
            }
            position += 1
        }
        throw malformed
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    private static func trimmed(_ text: String) -> String {
        String(decoding: text.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed(), as: UTF8.self)
    }
}

extension XMLPropertyListReader {
    /// Seconds since 2001 of `YYYY-MM-DDThh:mm:ssZ`.
    private static func date(_ text: String) -> Double? {
        let parts = text.utf8.split { !(48...57).contains($0) }
            .compactMap { Int64(String(decoding: $0, as: UTF8.self)) }
        guard
            text.hasSuffix("Z"), parts.count == 6, (0...9999).contains(parts[0]), (1...12).contains(parts[1]),
            (1...31).contains(parts[2]), (0...23).contains(parts[3]), (0...59).contains(parts[4]),
            (0...60).contains(parts[5])
        else { return nil }
        // Days since 0000-03-01, so that the leap day ends the year.
        let year = parts[1] > 2 ? parts[0] : parts[0] - 1
        let month = (parts[1] + 9) % 12
        let days =
            365 * year + year.quotient(4) - year.quotient(100) + year.quotient(400)
            + (153 * month + 2) / 5 + parts[2] - 1
        let daysIn2001: Int64 = 730_791
        return Double((days - daysIn2001) * 86_400 + parts[3] * 3600 + parts[4] * 60 + parts[5])
    }

    private static func base64(_ text: String) -> [UInt8]? {
        var result: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in text.utf8 {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): digit = 62
            case UInt8(ascii: "/"): digit = 63
            case UInt8(ascii: "="), 9...13, 32: continue
            default: return nil
            }
            bits = bits << 6 | UInt32(digit)
            count += 6
            if count >= 8 {
                count -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return result
    }
}

extension Int64 {
    /// The quotient rounded down.
    fileprivate func quotient(_ divisor: Int64) -> Int64 {
        let result = self / divisor
        return self < 0 && result * divisor != self ? result - 1 : result
    }
}
