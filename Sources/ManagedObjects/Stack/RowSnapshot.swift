package import StoreFormat

/// The values of one object as they are in its store: attributes and to-one destinations, never to-many ones.
package final class RowSnapshot: Sendable {
    package let id: ManagedObjectID
    /// The version (`Z_OPT`), which every save of the object raises.
    package let version: Int64
    /// By the numbers of the entity's shape; null for an attribute without a column.
    package let attributes: [AttributeValue]
    package let toOnes: [ManagedObjectID?]
    /// When it was read or written.
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

    /// The same row as read, or written, at another time.
    func read(at time: ContinuousClock.Instant) -> RowSnapshot {
        RowSnapshot(id: id, version: version, attributes: attributes, toOnes: toOnes, time: time)
    }
}
