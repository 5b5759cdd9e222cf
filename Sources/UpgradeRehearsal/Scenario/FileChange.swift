package import StoreFixtures

/// A change of one path of the scratch folder.
package struct FileChange: Sendable {
    /// What the path becomes.
    package enum Content: Sendable {
        case folder
        case text(String)
        case bytes(Int, fill: String)
        /// The bytes of a file outside the scratch folder.
        case from(String)
        case copy(String)
        case move(String)
        case link(String)
        case hardLink(String)
        case remove
        case truncate(Int64)
        case flip(Int64)
    }

    package let path: String
    /// Nil where only permissions change.
    package let content: Content?
    package let mode: UInt32?
    /// True when the user `nobody` becomes the owner.
    package let isGivenAway: Bool
    package let position: RecipePosition
}
