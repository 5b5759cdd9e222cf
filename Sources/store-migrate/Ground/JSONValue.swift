import FoundationEssentials

/// A JSON value whose members keep their order.
///
/// It is encoded here, without `JSONEncoder`, to keep the member order and a short start-up.
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// A number with its digits unchanged.
    case number(String)
    /// A number of seconds with three decimals.
    case seconds(Duration)
    case string(String)
    case array([JSONValue])
    case members([Member])

    /// A name and its value.
    struct Member: Equatable, Sendable {
        let name: String
        let value: JSONValue
    }

    static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .members(members.map { Member(name: $0.0, value: $0.1) })
    }

    static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
    static func optional(_ flag: Bool?) -> JSONValue { flag.map(JSONValue.bool) ?? .null }
    static func optional(_ number: Int64?) -> JSONValue { number.map(JSONValue.integer) ?? .null }
    static func strings(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map(JSONValue.string)) }

    /// The value as one line of JSON text.
    var text: String {
        var text = ""
        write(into: &text)
        return text
    }

    private func write(into text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        // JSON has no literal for NaN or infinities: they become strings.
        case .real(let value):
            if value.isFinite { text += "\(value)" } else { Self.write("\(value)", into: &text) }
        case .number(let digits): text += digits
        case .seconds(let value): text += Figures.milliseconds(value)
        case .string(let value): Self.write(value, into: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(into: &text)
            }
            text += "]"
        case .members(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.name, into: &text)
                text += ":"
                member.value.write(into: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, into text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                if Escaped.isUnsafe(scalar) {
                    for unit in String(scalar).utf16 { text += "\\u" + Figures.hexadecimal(UInt32(unit), digits: 4) }
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
        text += "\""
    }
}

extension JSONValue: Decodable {
    /// The JSON that `value` encodes to.
    init(encoding value: some Encodable) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Decodes a value; members are sorted by name.
    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Name.self) {
            self = .object(
                try container.allKeys.sorted { $0.stringValue < $1.stringValue }
                    .map { ($0.stringValue, try container.decode(JSONValue.self, forKey: $0)) }
            )
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            self = .array(try container.decode([JSONValue].self))
        }
    }
}
