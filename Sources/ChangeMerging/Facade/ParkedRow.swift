/// The whole row of an object on the side that lost a decision, kept in a file so that no value is lost.
package struct ParkedRow: Hashable, Sendable, Codable {
    package let side: MergeDirection
    /// The entity, or the table in a store without a Core Data model.
    package let entity: String
    /// The key on that side: one number, or the values of a table's primary key.
    package let key: [StoredValue]
    /// The key of the object in the shared store after the merge; nil if the object is missing there.
    package let target: [StoredValue]?
    package let reason: StoreMergeConflict.Reason
    /// The row by attributes, or by columns; a large value is its bytes.
    package let values: [String: StoredValue]
    /// The partners of each relationship, by their keys in the shared store.
    package let partners: [String: [Int64]]

    package init(
        side: MergeDirection,
        entity: String,
        key: [StoredValue],
        target: [StoredValue]?,
        reason: StoreMergeConflict.Reason,
        values: [String: StoredValue],
        partners: [String: [Int64]] = [:]
    ) {
        self.side = side
        self.entity = entity
        self.key = key
        self.target = target
        self.reason = reason
        self.values = values
        self.partners = partners
    }
}
