package import StoreFormat

/// The whole row of an object as the side that lost a decision has it: kept in a file, so that nothing is dropped.
package struct ParkedRow: Hashable, Sendable, Codable {
    /// A stored value, in a form that can be written down.
    package enum Value: Hashable, Sendable, Codable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case bytes([UInt8])

        package init(_ value: SQLValue) {
            switch value {
            case .null: self = .null
            case .integer(let number): self = .integer(number)
            case .real(let number): self = .real(number)
            case .text(let text): self = .text(text)
            case .blob(let bytes): self = .bytes(bytes)
            }
        }
    }

    package let side: MergePlan.Side
    package let entity: String
    /// The key on that side.
    package let primaryKey: Int64
    package let reason: StoreMergeConflict.Reason
    package let values: [String: Value]
    /// The keys of the partners of each relationship.
    package let partners: [String: [Int64]]

    package init(
        side: MergePlan.Side,
        entity: String,
        primaryKey: Int64,
        reason: StoreMergeConflict.Reason,
        values: [String: Value],
        partners: [String: [Int64]]
    ) {
        self.side = side
        self.entity = entity
        self.primaryKey = primaryKey
        self.reason = reason
        self.values = values
        self.partners = partners
    }
}
