public import StoreAccess

/// The permanent address of one object: `x-coredata://<store UUID>/<entity>/p<primary key>`.
///
/// Copies of a store share its UUID, so an address does not distinguish copies. Primary keys are unique within a root
/// entity: an address may name an ancestor of the object's entity.
public struct ObjectURI: Hashable, Sendable, Codable, CustomStringConvertible {
    private static let scheme = "x-coredata://"

    public let storeUUID: String
    public let entity: String
    public let primaryKey: Int64

    public init(storeUUID: String, entity: String, primaryKey: Int64) {
        self.storeUUID = storeUUID
        self.entity = entity
        self.primaryKey = primaryKey
    }

    /// Parses an address; throws for any other text, and for the temporary address of an unsaved object.
    public init(_ text: String) throws(StoreError) {
        guard text.lowercased().hasPrefix(Self.scheme) else {
            throw Self.error("an object URI begins with \(Self.scheme)")
        }
        let parts = text.dropFirst(Self.scheme.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw Self.error("an object URI names a store, an entity and a key") }
        if parts[0].isEmpty || parts[2].hasPrefix("t") {
            throw Self.error("this object URI is a temporary one: save the object first, then use its permanent URI")
        }
        guard
            let store = Self.decoded(parts[0]), let entity = Self.decoded(parts[1]), !entity.isEmpty,
            parts[2].hasPrefix("p"), parts[2].utf8.dropFirst().allSatisfy({ (48...57).contains($0) }),
            let key = Int64(parts[2].dropFirst()), key > 0
        else { throw Self.error("the object URI is malformed: expected \(Self.scheme)<UUID>/<entity>/p<number>") }
        self.init(storeUUID: store, entity: entity, primaryKey: key)
    }

    public init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    public var description: String {
        "\(Self.scheme)\(Self.encoded(storeUUID))/\(Self.encoded(entity))/p\(primaryKey)"
    }

    private static func error(_ message: String) -> StoreError { StoreError(.incompatible, path: "", message) }
}

extension ObjectURI {
    /// Escapes characters that are invalid in a path component of a URI.
    private static func encoded(_ text: String) -> String {
        let hexadecimal = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(byte)
            default:
                result += [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes the escapes; nil if one is malformed or the result is not text.
    private static func decoded(_ text: Substring) -> String? {
        var result: [UInt8] = []
        var bytes = text.utf8[...]
        while let byte = bytes.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard
                bytes.prefix(2).allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let digits = String(bytes.prefix(2)), digits.utf8.count == 2, let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes = bytes.dropFirst(2)
            result.append(value)
        }
        return String(validating: result, as: UTF8.self)
    }
}
