internal import FoundationEssentials
internal import StoreAccess
internal import StoreFormat

/// The kinds of values; only values of one kind can be compared.
enum PredicateKind: Hashable {
    case number
    case date
    case text
    case uuid
    case data
    /// Values that can only be compared with nil.
    case opaque
    /// Nil on both sides.
    case nothing

    /// The kind of two sides; throws when they cannot be compared.
    init(_ left: PredicateSide, _ right: PredicateSide, resolver: PredicateResolver) throws(FetchError) {
        let path = left.path ?? right.path
        let names = left.names + right.names
        if let first = left.path, let second = right.path {
            let (one, other) = (Self(first), Self(second))
            guard one == other, one != .opaque else {
                throw resolver.error(names, "\(one.words) and \(other.words) cannot be compared")
            }
            self = one
        } else if let path {
            self = Self(path)
        } else {
            guard let value = left.value ?? right.value else { throw resolver.error(names, "objects have no value") }
            self = Self(value)
        }
    }

    private init(_ path: PredicatePath) {
        switch path.leaf {
        case .count: self = .number
        // These are compared by identity and by entity.
        case .object, .entity: self = .opaque
        case .computed(_, let kind): self = kind
        case .attribute(let attribute): self.init(attribute)
        }
    }

    /// The kind of an attribute's values.
    init(_ attribute: AttributeDescription) {
        switch attribute.type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: self = .number
        case .string, .uri: self = .text
        case .date: self = .date
        case .uuid: self = .uuid
        case .binaryData: self = attribute.allowsExternalBinaryDataStorage ? .opaque : .data
        case .transformable, .undefined, .objectID, .composite: self = .opaque
        }
    }

    private init(_ value: AttributeValue) {
        switch value {
        case .null: self = .nothing
        case .boolean, .integer, .real, .decimal: self = .number
        case .string, .uri: self = .text
        case .date: self = .date
        case .uuid: self = .uuid
        case .data: self = .data
        case .externalData: self = .opaque
        }
    }

    var isOrdered: Bool { self == .number || self == .date || self == .text || self == .nothing }

    /// The kind in a message.
    var words: String {
        switch self {
        case .number: "numbers"
        case .date: "dates"
        case .text: "strings"
        case .uuid: "UUIDs"
        case .data: "data"
        case .opaque: "transformable values and external binary data"
        case .nothing: "nothing"
        }
    }

    // MARK: Operands

    /// One side as an operand for SQL and memory; constant strings are folded.
    ///
    /// `other` is the opposite side, which an error names.
    func operand(
        _ side: PredicateSide,
        beside other: PredicateSide,
        _ options: StringOptions,
        resolver: PredicateResolver
    ) throws(FetchError) -> ResolvedOperand {
        if let path = side.path {
            switch path.leaf {
            case .attribute(let attribute): return .attribute(path.subject, attribute)
            case .count(let hop): return .count(path.subject, hop)
            case .computed(let operand, _): return operand
            case .object, .entity: throw resolver.error(side.names, "an object cannot be compared with a value")
            }
        }
        guard let value = side.value, let stored = stored(value) else {
            throw resolver.error(side.names.isEmpty ? other.names : side.names, mismatch)
        }
        guard self == .text, case .text(let text) = stored else { return .constant(stored) }
        return .constant(.text(options.folded(text.string)))
    }

    private var mismatch: String {
        switch self {
        case .number: "a number is expected"
        case .date: "a date is expected, or a string such as 2026-01-31 or 2026-01-31T12:00:00Z"
        case .text: "a string is expected"
        case .uuid: "a UUID is expected"
        case .data: "data is expected"
        case .opaque: "this can only be compared with nil"
        case .nothing: "nil can only be compared with nil"
        }
    }

    private func stored(_ value: AttributeValue) -> SQLValue? {
        switch (self, value) {
        case (_, .null): .null
        case (.number, .boolean), (.number, .integer), (.number, .real), (.number, .decimal): value.plainlyStored
        case (.date, .date), (.text, .string), (.text, .uri), (.uuid, .uuid), (.data, .data): value.plainlyStored
        case (.date, .string(let text)): Self.date(text).map { .real($0.timeIntervalSinceReferenceDate) }
        case (.uuid, .string(let text)): UUID(uuidString: text).flatMap { AttributeValue.uuid($0).plainlyStored }
        default: nil
        }
    }

    /// Parses an ISO 8601 date; a date without a time is midnight UTC.
    private static func date(_ text: String) -> Date? {
        let styles: [Date.ISO8601FormatStyle] = [
            .iso8601, Date.ISO8601FormatStyle(includingFractionalSeconds: true), .iso8601.year().month().day(),
        ]
        return styles.lazy.compactMap { try? $0.parse(text) }.first
    }
}

extension PredicateSide {
    /// The value of a constant; nil for an object, a collection and a path.
    var value: AttributeValue? {
        if case .constant(.value(let value)) = content { value } else { nil }
    }
}
