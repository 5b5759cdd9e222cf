import FoundationEssentials
import SafeFiles

/// The parsed output of a run of the tool.
struct RunOutput {
    private static let greatestSize = 16 << 20
    private static let mostQuoted = 4_000

    /// The findings' codes, in their order.
    private(set) var findings: [String] = []
    /// The members of the summary as text.
    private(set) var summary: [String: String] = [:]
    /// All texts of the output, a line each.
    private(set) var texts: [String] = []
    let errors: String

    init(output: String, errors: String) {
        self.errors = Self.contents(errors)
        for line in Self.contents(output).split(separator: "\n") {
            guard let value = try? JSONDecoder().decode(JSONTree.self, from: Data(line.utf8)) else {
                texts.append(String(line))
                continue
            }
            texts += value.strings
            guard case .object(let members) = value else { continue }
            switch members["type"]?.text {
            case "finding": findings.append(members["code"]?.text ?? "")
            case "summary": summary = members.compactMapValues(\.text)
            default: break
            }
        }
        texts += self.errors.split(separator: "\n").map(String.init)
    }

    /// The end of standard error.
    var quoted: String { String(errors.suffix(Self.mostQuoted)) }

    static func contents(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"),
            let folder = try? Directory.open(path: String(path[..<slash])),
            let bytes = try? folder.contents(of: String(path[path.index(after: slash)...]), limit: greatestSize)
        else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A JSON value, as far as scenarios can check it.
    private indirect enum JSONTree: Decodable {
        case scalar(String)
        case null
        case array([JSONTree])
        case object([String: JSONTree])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .scalar("\(value)")
            } else if let value = try? container.decode(Int64.self) {
                self = .scalar("\(value)")
            } else if let value = try? container.decode(Double.self) {
                self = .scalar("\(value)")
            } else if let value = try? container.decode(String.self) {
                self = .scalar(value)
            } else if let values = try? container.decode([JSONTree].self) {
                self = .array(values)
            } else {
                self = .object(try container.decode([String: JSONTree].self))
            }
        }

        var text: String? {
            switch self {
            case .scalar(let text): text
            case .null: "null"
            default: nil
            }
        }

        var strings: [String] {
            switch self {
            case .scalar(let text): [text]
            case .null: []
            case .array(let values): values.flatMap(\.strings)
            case .object(let members): members.values.flatMap(\.strings)
            }
        }
    }
}
