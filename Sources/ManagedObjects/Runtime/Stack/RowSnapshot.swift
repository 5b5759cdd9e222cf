internal import StoreAccess
public import StoreFormat

/// The stored values of one object: attributes and to-one destinations, without to-many ones.
///
/// A row that was read from a store is kept packed, and a value is decoded each time it is read: most values of most objects
/// are never used.
package final class RowSnapshot: Sendable {
    private enum Storage {
        case packed(PackedRow, RowDecoder)
        case values(RowValues)
    }

    /// A row with more bytes is decoded at once, so that all readers share its large values.
    private static let mostPacked = 2048

    package let id: ManagedObjectID
    /// The time of the read or write.
    package let time: ContinuousClock.Instant
    private let storage: Storage

    private init(_ id: ManagedObjectID, _ storage: Storage, time: ContinuousClock.Instant) {
        self.id = id
        self.time = time
        self.storage = storage
    }

    /// Creates a row from values: one that was just saved, or that a parent context has.
    package convenience init(
        id: ManagedObjectID,
        version: Int64,
        attributes: [AttributeValue],
        toOnes: [ManagedObjectID?],
        time: ContinuousClock.Instant
    ) {
        let values = RowValues(version: version, attributes: attributes, toOnes: toOnes)
        self.init(id, .values(values), time: time)
    }

    /// Creates a row that was read from a store.
    convenience init(
        id: ManagedObjectID,
        _ row: PackedRow,
        _ decoder: RowDecoder,
        time: ContinuousClock.Instant
    ) {
        guard row.byteCount > Self.mostPacked else {
            self.init(id, .packed(row, decoder), time: time)
            return
        }
        self.init(
            id: id,
            version: row.integer(RowDecoder.version),
            attributes: decoder.attributes.indices.map { decoder.attribute($0, of: row) },
            toOnes: decoder.toOnes.indices.map { decoder.toOne($0, of: row) },
            time: time
        )
    }

    /// The version (`Z_OPT`), which every save of the object increments.
    package var version: Int64 {
        switch storage {
        case .packed(let row, _): row.integer(RowDecoder.version)
        case .values(let values): values.version
        }
    }

    /// An attribute, by its index in the entity's shape; null if the attribute has no column.
    package func attribute(_ index: Int) -> AttributeValue {
        switch storage {
        case .packed(let row, let decoder): decoder.attribute(index, of: row)
        case .values(let values): values.attributes.indices.contains(index) ? values.attributes[index] : .null
        }
    }

    /// The destination of a to-one relationship, by its index in the entity's shape.
    package func toOne(_ index: Int) -> ManagedObjectID? {
        switch storage {
        case .packed(let row, let decoder): decoder.toOne(index, of: row)
        case .values(let values): values.toOnes.indices.contains(index) ? values.toOnes[index] : nil
        }
    }

    /// All attributes.
    var attributes: [AttributeValue] {
        switch storage {
        case .packed(let row, let decoder): decoder.attributes.indices.map { decoder.attribute($0, of: row) }
        case .values(let values): values.attributes
        }
    }

    /// All destinations of to-one relationships.
    var toOnes: [ManagedObjectID?] {
        switch storage {
        case .packed(let row, let decoder): decoder.toOnes.indices.map { decoder.toOne($0, of: row) }
        case .values(let values): values.toOnes
        }
    }

    /// False only for a row as a store returned it, of which no destination has a temporary ID.
    var mayLeadToNewObjects: Bool { if case .values = storage { true } else { false } }

    /// The row with another time of its read or write.
    func read(at time: ContinuousClock.Instant) -> RowSnapshot { RowSnapshot(id, storage, time: time) }
}

/// The values of a row that no store has returned.
private final class RowValues: Sendable {
    let version: Int64
    let attributes: [AttributeValue]
    let toOnes: [ManagedObjectID?]

    init(version: Int64, attributes: [AttributeValue], toOnes: [ManagedObjectID?]) {
        self.version = version
        self.attributes = attributes
        self.toOnes = toOnes
    }
}

/// Decodes the packed rows of one concrete entity.
final class RowDecoder: Sendable {
    struct ToOne: Sendable {
        let field: Int
        /// The field with the number of the destination's entity; nil if the relationship has only one.
        let entityField: Int?
        let destination: ManagedObjectID.Family
    }

    /// The field with the version: each decoder's `columns` begin with it.
    static let version = 0

    let family: ManagedObjectID.Family
    /// The columns of a statement that are packed, by field.
    let columns: [Int]
    /// The field of each attribute; nil for an attribute without a column.
    let attributes: [(field: Int, decoder: AttributeDecoder)?]
    let toOnes: [ToOne?]
    private let families: ObjectIDFamilies

    init(
        _ family: ManagedObjectID.Family,
        columns: [Int],
        attributes: [(field: Int, decoder: AttributeDecoder)?],
        toOnes: [ToOne?],
        families: ObjectIDFamilies
    ) {
        self.family = family
        self.columns = columns
        self.attributes = attributes
        self.toOnes = toOnes
        self.families = families
    }

    func attribute(_ index: Int, of row: PackedRow) -> AttributeValue {
        guard attributes.indices.contains(index), let attribute = attributes[index] else { return .null }
        return attribute.decoder.value(row, attribute.field)
    }

    func toOne(_ index: Int, of row: PackedRow) -> ManagedObjectID? {
        guard toOnes.indices.contains(index), let toOne = toOnes[index], row.type(toOne.field) == .integer else {
            return nil
        }
        let concrete = toOne.entityField.flatMap { families.family(numbered: row.integer($0)) }
        return ManagedObjectID(concrete ?? toOne.destination, primaryKey: row.integer(toOne.field))
    }
}

/// The value of an attribute, or the destination of a to-one relationship.
public enum PropertyValue: Hashable, Sendable {
    case attribute(AttributeValue)
    case object(ManagedObjectID?)
}
