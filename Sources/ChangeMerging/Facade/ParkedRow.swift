/// The whole row of an object as the side that lost a decision has it: kept in a file, so that nothing is dropped.
package struct ParkedRow: Hashable, Sendable, Codable {
    package let side: MergeDirection
    /// The entity, or the table in a store that is none of Core Data's.
    package let entity: String
    /// The key on that side: one number, or the values of a table's primary key.
    package let key: [StoredValue]
    /// The key that the object has in the shared store after the merge; nil where that has no such object.
    package let target: [StoredValue]?
    package let reason: StoreMergeConflict.Reason
    /// The row by attributes, or by columns; large values are the bytes themselves.
    package let values: [String: StoredValue]
    /// The keys of the partners of each relationship, by which the shared store has them.
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
