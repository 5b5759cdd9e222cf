package import StoreFormat

/// One decision of a merge that took a side.
public struct StoreMergeConflict: Hashable, Sendable, Codable {
    public enum Reason: String, Hashable, Sendable, Codable {
        /// Both sides gave the property another value.
        case bothChanged
        /// One side deleted the object, the other went on with it.
        case editedAndDeleted
        /// Another object of the shared store has the unique values.
        case uniqueValues
        /// The old side leads to an object that is gone.
        case partnerGone
        /// The shared side's model has no such property.
        case propertyLacking
        /// The shared store does not take the row: its table refuses the values.
        case constraint
    }

    /// What one side has.
    public enum State: Hashable, Sendable, Codable {
        case value(StoredValue)
        /// A value of so many bytes, too large to be told.
        case large(Int)
        /// The key of a relationship's partner; nil for none.
        case partner(Int64?)
        case deleted
        case present

        /// Long values are told by their size: a merge holds all of its conflicts in memory.
        package init(_ value: SQLValue) {
            switch value {
            case .text(let text) where text.byteCount > Self.mostText: self = .large(text.byteCount)
            case .blob(let bytes) where bytes.count > Self.mostBytes: self = .large(bytes.count)
            default: self = .value(StoredValue(value))
            }
        }

        /// The same for a value of a row; a long one is not copied.
        init(_ row: borrowing StoreRow, _ column: Int) {
            let most: Int? =
                switch row.type(column) {
                case .text: Self.mostText
                case .blob: Self.mostBytes
                case .null, .integer, .real: nil
                }
            if let most {
                let size = row.withBytes(column) { $0.count }
                if size > most {
                    self = .large(size)
                    return
                }
            }
            self = .value(StoredValue(row.value(column)))
        }

        private static let (mostText, mostBytes) = (1024, 128)
    }

    /// The entity, or the table in a store that is none of Core Data's.
    public let entity: String
    /// The object's key in the shared store: one number, or the values of a table's primary key.
    public let key: [StoredValue]
    /// Nil where it is about the object as a whole.
    public let property: String?
    public let reason: Reason
    public let base: State?
    public let old: State
    public let shared: State
    public let taken: MergeDirection

    package init(
        entity: String,
        key: [StoredValue],
        property: String?,
        reason: Reason,
        base: State?,
        old: State,
        shared: State,
        taken: MergeDirection
    ) {
        self.entity = entity
        self.key = key
        self.property = property
        self.reason = reason
        self.base = base
        self.old = old
        self.shared = shared
        self.taken = taken
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
        taken: MergeDirection
    ) {
        self.init(
            entity: entity,
            key: [.integer(primaryKey)],
            property: property,
            reason: reason,
            base: base,
            old: old,
            shared: shared,
            taken: taken
        )
    }
}

extension StoreMergeConflict {
    /// The same decision, told without values of rows.
    var withoutValues: StoreMergeConflict {
        func told(_ state: State) -> State {
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
            base: base.map(told),
            old: told(old),
            shared: told(shared),
            taken: taken
        )
    }
}
