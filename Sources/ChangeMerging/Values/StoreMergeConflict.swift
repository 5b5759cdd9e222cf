import FoundationEssentials
public import StoreAccess

/// One conflict of a merge and its decision.
public struct StoreMergeConflict: Hashable, Sendable, Codable {
    public enum Reason: String, Hashable, Sendable, Codable {
        /// Both sides changed the property to different values.
        case bothChanged
        /// One side deleted the object, and the other changed it.
        case editedAndDeleted
        /// Another object of the shared store has the unique values.
        case uniqueValues
        /// The old side refers to an object that no longer exists.
        case partnerGone
        /// The shared side's model has no such property.
        case propertyLacking
        /// The shared store's table rejects the values.
        case constraint
    }

    /// What a merge takes.
    public enum Resolution: Hashable, Sendable, Codable {
        /// The old side's value; its deletion of the object, if it deleted it.
        case old
        /// The shared side's value; its deletion of the object, if it deleted it.
        case shared
        /// A value that a resolver gives; permitted where ``StoreMergeConflict/acceptsValue`` is true.
        ///
        /// It has the kind of a value of the stores. Both sides' rows are parked.
        case value(StoredValue)

        package init(_ side: MergeDirection) { self = side == .old ? .old : .shared }
    }

    /// The state on one side.
    public enum State: Hashable, Sendable, Codable {
        case value(StoredValue)
        /// The size in bytes of a value too large to report.
        case large(Int)
        /// The key of a relationship's partner; nil for none.
        case partner(Int64?)
        case deleted
        case present

        /// Keeps only the size of a long value, because a merge keeps all of its conflicts in memory.
        package init(_ value: SQLValue) {
            switch value {
            case .text(let text) where text.byteCount > Self.mostText: self = .large(text.byteCount)
            case .blob(let bytes) where bytes.count > Self.mostBytes: self = .large(bytes.count)
            case .large(let value): self = .large(value.byteCount)
            default: self = .value(StoredValue(value))
            }
        }

        private static let (mostText, mostBytes) = (1024, 128)
    }

    /// The entity, or the table in a store without a Core Data model.
    public let entity: String
    /// The object's key in the shared store: one number, or the values of a table's primary key.
    public let key: [StoredValue]
    /// Nil if the conflict concerns the object as a whole.
    public let property: String?
    public let reason: Reason
    public let base: State?
    public let old: State
    public let shared: State
    /// The decision of the policy, or of the resolver if ``isResolved``.
    public internal(set) var taken: Resolution
    /// True if a resolver may give another value than those of the stores.
    ///
    /// False for relationships, whole objects, values in external files, and values that are unique or a key.
    public let acceptsValue: Bool
    /// True if the caller's resolver decided.
    public internal(set) var isResolved = false

    package init(
        entity: String,
        key: [StoredValue],
        property: String?,
        reason: Reason,
        base: State?,
        old: State,
        shared: State,
        taken: Resolution,
        acceptsValue: Bool = false
    ) {
        self.entity = entity
        self.key = key
        self.property = property
        self.reason = reason
        self.base = base
        self.old = old
        self.shared = shared
        self.taken = taken
        self.acceptsValue = acceptsValue
    }

    /// The same for an object of a Core Data store.
    package init(
        entity: String,
        primaryKey: Int64,
        property: String?,
        reason: Reason,
        base: State?,
        old: State,
        shared: State,
        taken: Resolution,
        acceptsValue: Bool = false
    ) {
        self.init(
            entity: entity,
            key: [.integer(primaryKey)],
            property: property,
            reason: reason,
            base: base,
            old: old,
            shared: shared,
            taken: taken,
            acceptsValue: acceptsValue
        )
    }
}

extension StoreMergeConflict {
    /// The same conflict without values of rows.
    var withoutValues: StoreMergeConflict {
        func shortened(_ state: State) -> State {
            switch state {
            case .value, .large: .present
            case .partner, .deleted, .present: state
            }
        }
        return StoreMergeConflict(
            entity: entity,
            key: key,
            property: property,
            reason: reason,
            base: base.map(shortened),
            old: shortened(old),
            shared: shortened(shared),
            taken: taken
        )
    }
}

/// A value of a store in an encodable form.
public enum StoredValue: Hashable, Sendable, Codable {
    case null
    case integer(Int64)
    case real(Double)
    case text(SQLText)
    case bytes(StoredBytes)

    /// A large value is written down by what reads it in pieces; here is its size.
    package init(_ value: SQLValue) {
        switch value {
        case .large(let value): self = .text(SQLText("(\(value.byteCount) bytes)"))
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .bytes(StoredBytes(bytes))
        }
    }

    package var sqlValue: SQLValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .bytes(let bytes): .blob(bytes.bytes)
        }
    }
}

extension StoredValue {
    public static func == (left: Self, right: Self) -> Bool { left.sqlValue == right.sqlValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(sqlValue) }
}

/// The bytes of a blob, encoded in base64; a list of numbers is decoded as well.
public struct StoredBytes: Hashable, Sendable, Codable, ExpressibleByArrayLiteral {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public init(arrayLiteral elements: UInt8...) { bytes = elements }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes))
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let data = try? container.decode(Data.self) {
            bytes = [UInt8](data)
        } else {
            bytes = try container.decode([UInt8].self)
        }
    }
}
