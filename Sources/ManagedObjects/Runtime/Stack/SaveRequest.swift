internal import ChangeMerging
internal import StoreFormat

/// All changes of one context, to be saved in one transaction.
struct SaveRequest: Sendable {
    /// Changes to an existing object.
    struct Update: Sendable {
        var id: ManagedObjectID
        /// The row as read; nil if it was never read.
        ///
        /// Later changes elsewhere are conflicts.
        var base: RowSnapshot?
        var values: [String: PropertyValue]
        /// Changes to the members of its to-many relationships; ``SaveRequest/links`` and to-one relationships write
        /// them.
        var members: [String: ToManyChange<PropertyValue>] = [:]
        /// True when members of an ordered relationship changed positions.
        var isRearranged = false
    }

    /// Changes to a to-many relationship without a to-one inverse, and the order of an ordered one.
    struct Link: Sendable {
        var owner: ManagedObjectID
        var relationship: String
        var added: [ManagedObjectID]
        var removed: [ManagedObjectID]
        /// The members of an ordered relationship, in the order as read.
        var base: [ManagedObjectID] = []
        var order: [ManagedObjectID]?
    }

    struct Deletion: Sendable {
        var id: ManagedObjectID
        var base: RowSnapshot?
    }

    var insertions: [Insertion] = []
    var updates: [Update] = []
    var links: [Link] = []
    var deletions: [Deletion] = []
    /// Objects replaced by others with the same unique values, which take over their relationships.
    var supplanted: [(loser: ManagedObjectID, winner: ManagedObjectID)] = []
    /// New objects that are not inserted because an object with the same unique values exists.
    var standIns: [ManagedObjectID: ManagedObjectID] = [:]
    /// True to clear all changed unique values before assigning any of them.
    var parksUniqueValues = false
    var policy = MergePolicy.error
    var author: String?
    var contextName: String?

    var isEmpty: Bool { insertions.isEmpty && updates.isEmpty && links.isEmpty && deletions.isEmpty }
}

extension SaveRequest {
    /// A new object, with its values in arrays by index, because there may be very many.
    struct Insertion: Sendable {
        var id: ManagedObjectID
        let shape: ObjectShape
        private(set) var attributes: [AttributeValue]
        private(set) var toOnes: [ManagedObjectID?]
        /// The properties that were set explicitly.
        private let set: Set<ObjectShape.Property>

        init(
            id: ManagedObjectID,
            shape: ObjectShape,
            attributes: [AttributeValue],
            toOnes: [ManagedObjectID?],
            set: Set<ObjectShape.Property>
        ) {
            self.id = id
            self.shape = shape
            self.attributes = attributes
            self.toOnes = toOnes
            self.set = set
        }

        /// An object with only the given values.
        init(id: ManagedObjectID, shape: ObjectShape, values: [String: PropertyValue]) {
            self.init(
                id: id,
                shape: shape,
                attributes: shape.attributes.map { _ in .null },
                toOnes: shape.toOnes.map { _ in nil },
                set: Set(values.keys.compactMap(shape.property))
            )
            self.values = values
        }

        /// The names of the explicitly set values.
        var given: Set<String> { Set(set.map(shape.name(of:))) }

        /// The values by name: all stored attributes, and to-one relationships with a destination.
        ///
        /// Assigning changes only the named values.
        var values: [String: PropertyValue] {
            get {
                var result: [String: PropertyValue] = [:]
                for index in shape.storedAttributes {
                    result[shape.attributes[index].name] = .attribute(attributes[index])
                }
                for (relationship, id) in zip(shape.toOnes, toOnes) where !relationship.isTransient {
                    if let id { result[relationship.name] = .object(id) }
                }
                return result
            }
            set {
                for (name, value) in newValue {
                    switch (shape.property(name), value) {
                    case (.attribute(let index)?, .attribute(let value)): attributes[index] = value
                    case (.toOne(let index)?, .object(let id)): toOnes[index] = id
                    default: break
                    }
                }
            }
        }

        /// Replaces a destination of to-one relationships by another object.
        mutating func replace(_ object: ManagedObjectID, by other: ManagedObjectID) {
            for index in toOnes.indices where toOnes[index] == object { toOnes[index] = other }
        }
    }
}

/// The outcome of a save.
struct SaveOutcome: Sendable {
    /// A new object that was inserted.
    struct Insertion: Sendable {
        /// The ID in the request, usually a temporary one.
        let id: ManagedObjectID
        let permanentID: ManagedObjectID
        /// Its row; nil if the row is in ``SaveOutcome/rows``.
        let row: RowSnapshot?
    }

    /// The new objects in the order of their insertion.
    var insertions: [Insertion] = []
    /// New objects that were not inserted because an object with the same unique values exists, with that object.
    var standIns: [ManagedObjectID: ManagedObjectID] = [:]
    var inserted: Set<ManagedObjectID> = []
    var updated: Set<ManagedObjectID> = []
    var deleted: Set<ManagedObjectID> = []
    /// Objects that keep the store's values, by the merge policy.
    var kept: Set<ManagedObjectID> = []
    /// True when the store differs from the request, so the context's cached to-many relationships may be wrong.
    var isMerged = false
    /// The rows after the save of all existing objects above; without those of ``insertions``.
    var rows: [RowSnapshot] = []
    /// The number of the save's transaction in the store's history.
    var transactions: [String: Int64] = [:]

    /// Adds the outcome of the same save in another store.
    mutating func add(_ other: SaveOutcome) {
        insertions += other.insertions
        standIns.merge(other.standIns) { $1 }
        inserted.formUnion(other.inserted)
        updated.formUnion(other.updated)
        deleted.formUnion(other.deleted)
        kept.formUnion(other.kept)
        isMerged = isMerged || other.isMerged
        rows += other.rows
        transactions.merge(other.transactions) { $1 }
    }
}
