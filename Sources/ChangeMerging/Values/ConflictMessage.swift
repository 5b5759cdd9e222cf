import FoundationEssentials
import StoreAccess

/// What is said to a resolver in another process, and what it answers: JSON objects, one a line.
///
/// Values are `null` or an object with one member: `integer`, `real`, `text`, or `base64` for bytes.
package enum ConflictMessage {
    package static let protocolVersion = 1

    /// A conflict to decide, with the number that the answer repeats.
    package static func question(_ number: Int, _ conflict: StoreMergeConflict) throws -> [UInt8] {
        let question = Question.resolve(
            protocolVersion: protocolVersion,
            number: number,
            conflict: WireConflict(conflict: conflict)
        )
        return try [UInt8](RecordCoding.encoder().encode(question)) + [0x0A]
    }

    /// A line of the answer, without its end.
    package enum Answer: Sendable, Decodable {
        case resolution(number: Int, StoreMergeConflict.Resolution)
        /// The conflict has no decision, for this reason.
        case failure(message: String, recoverySuggestion: String?)

        package init(line: [UInt8]) throws {
            self = try RecordCoding.decoder().decode(Self.self, from: Data(line))
        }

        private enum Kind: String, CodingKey {
            case resolution, failure
        }

        private enum Member: String, CodingKey {
            case number, take, value, message, recoverySuggestion
        }

        package init(from decoder: any Decoder) throws {
            let answer = try decoder.container(keyedBy: Kind.self)
            guard answer.allKeys.count == 1, let kind = answer.allKeys.first else {
                throw Self.error("an answer has one member: resolution or failure", decoder)
            }
            let members = try answer.nestedContainer(keyedBy: Member.self, forKey: kind)
            guard kind == .resolution else {
                self = .failure(
                    message: try members.decode(String.self, forKey: .message),
                    recoverySuggestion: try members.decodeIfPresent(String.self, forKey: .recoverySuggestion)
                )
                return
            }
            let number = try members.decode(Int.self, forKey: .number)
            // The message of a decoder would repeat the word, which may be a value of a row.
            switch try members.decode(String.self, forKey: .take) {
            case "old": self = .resolution(number: number, .old)
            case "shared": self = .resolution(number: number, .shared)
            case "value":
                guard members.contains(.value) else { throw Self.error("a decision for a value has none", decoder) }
                let value = try members.decodeIfPresent(WireValue.self, forKey: .value)
                self = .resolution(number: number, .value(value?.value ?? .null))
            default: throw Self.error("a decision takes old, shared or value", decoder)
            }
        }

        private static func error(_ message: String, _ decoder: any Decoder) -> DecodingError {
            .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: message))
        }
    }

    private enum Question: Encodable {
        case resolve(protocolVersion: Int, number: Int, conflict: WireConflict)
    }

    /// One value of a row.
    package struct WireValue: Sendable, Codable {
        package let value: StoredValue

        private enum Kind: String, CodingKey {
            case integer, real, text, base64
        }

        fileprivate init(_ value: StoredValue) { self.value = value }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Kind.self)
            guard container.allKeys.count == 1, let kind = container.allKeys.first else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath,
                        debugDescription: "a value is null or has one member: integer, real, text or base64"
                    )
                )
            }
            value =
                switch kind {
                case .integer: .integer(try container.decode(Int64.self, forKey: kind))
                case .real: .real(try Self.real(container))
                case .text: .text(SQLText(try container.decode(String.self, forKey: kind)))
                case .base64: .bytes(StoredBytes([UInt8](try container.decode(Data.self, forKey: kind))))
                }
        }

        /// SQLite would store "not a number" as null.
        private static func real(_ container: KeyedDecodingContainer<Kind>) throws -> Double {
            let number = try container.decode(Double.self, forKey: .real)
            guard !number.isNaN else {
                throw DecodingError.dataCorruptedError(
                    forKey: .real,
                    in: container,
                    debugDescription: "it is no number"
                )
            }
            return number
        }

        package func encode(to encoder: any Encoder) throws {
            if case .null = value {
                var container = encoder.singleValueContainer()
                return try container.encodeNil()
            }
            var container = encoder.container(keyedBy: Kind.self)
            switch value {
            case .null: break
            case .integer(let number): try container.encode(number, forKey: .integer)
            case .real(let number): try container.encode(number, forKey: .real)
            case .text(let text): try container.encode(text.string, forKey: .text)
            case .bytes(let bytes): try container.encode(Data(bytes.bytes), forKey: .base64)
            }
        }
    }

    private struct WireConflict: Encodable {
        let conflict: StoreMergeConflict

        private enum Member: String, CodingKey {
            case entity, key, property, reason, base, old, shared, policy, acceptsValue
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Member.self)
            try container.encode(conflict.entity, forKey: .entity)
            try container.encode(conflict.key.map(WireValue.init), forKey: .key)
            try container.encodeIfPresent(conflict.property, forKey: .property)
            try container.encode(conflict.reason, forKey: .reason)
            try container.encodeIfPresent(conflict.base.map(WireState.init), forKey: .base)
            try container.encode(WireState(state: conflict.old), forKey: .old)
            try container.encode(WireState(state: conflict.shared), forKey: .shared)
            try container.encode(conflict.taken == .old ? "old" : "shared", forKey: .policy)
            try container.encode(conflict.acceptsValue, forKey: .acceptsValue)
        }
    }

    /// The state on one side: its kind, with the value, the partner's key or the size in bytes.
    private struct WireState: Encodable {
        let state: StoreMergeConflict.State

        private enum Member: String, CodingKey {
            case kind, value, key, bytes
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Member.self)
            switch state {
            case .value(let value):
                try container.encode("value", forKey: .kind)
                try container.encode(WireValue(value), forKey: .value)
            case .large(let count):
                try container.encode("large", forKey: .kind)
                try container.encode(count, forKey: .bytes)
            case .partner(let key):
                try container.encode("partner", forKey: .kind)
                try container.encode(key, forKey: .key)
            case .deleted: try container.encode("deleted", forKey: .kind)
            case .present: try container.encode("present", forKey: .kind)
            }
        }
    }
}
