package import StoreFormat

/// The stored values of one object: attributes and to-one destinations, without to-many ones.
package final class RowSnapshot: Sendable {
    package let id: ManagedObjectID
    /// The version (`Z_OPT`), which every save of the object increments.
    package let version: Int64
    /// Indexed as in the entity's shape; null for an attribute without a column.
    package let attributes: [AttributeValue]
    package let toOnes: [ManagedObjectID?]
    /// The time of the read or write.
    package let time: ContinuousClock.Instant

    package init(
        id: ManagedObjectID,
        version: Int64,
        attributes: [AttributeValue],
        toOnes: [ManagedObjectID?],
        time: ContinuousClock.Instant
    ) {
        self.id = id
        self.version = version
        self.attributes = attributes
        self.toOnes = toOnes
        self.time = time
    }

    /// The row with another time of its read or write.
    func read(at time: ContinuousClock.Instant) -> RowSnapshot {
        RowSnapshot(id: id, version: version, attributes: attributes, toOnes: toOnes, time: time)
    }
}
