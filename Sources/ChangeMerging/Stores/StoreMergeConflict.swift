package import StoreFormat

/// One decision of a merge that took a side.
package struct StoreMergeConflict: Hashable, Sendable {
    package enum Reason: String, Hashable, Sendable, Codable {
        /// Both sides gave the property another value.
        case bothChanged
        /// One side deleted the object, the other went on with it.
        case editedAndDeleted
        /// Another object of the shared store has the unique values.
        case uniqueValues
        /// The old side leads to an object that is gone.
        case partnerGone
    }

    /// A value of one side; a relationship's is its partner's key.
    package enum State: Hashable, Sendable {
        case value(SQLValue)
        case partner(Int64?)
        case deleted
        case present
    }

    /// The object in the shared store.
    package let entity: String
    package let primaryKey: Int64
    /// Nil where it is about the object as a whole.
    package let property: String?
    package let reason: Reason
    package let base: State?
    package let old: State
    package let shared: State
    package let taken: MergePlan.Side
}
