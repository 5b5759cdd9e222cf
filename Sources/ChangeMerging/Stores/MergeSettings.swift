/// The choices of who merges two stores.
package struct MergeSettings: Hashable, Sendable {
    /// How the changes of a side are found.
    package enum Collection: Hashable, Sendable {
        /// By history where both sides have it past the base, else by reading the stores.
        case automatic
        case scan
    }

    package var policy = MergePolicy.mergeByPropertyStoreTrump
    /// Policies of single entities, by name; they hold for their subentities too.
    package var entityPolicies: [String: MergePolicy] = [:]
    /// The attributes by which objects of an entity are the same, by entity.
    package var identities: [String: [String]] = [:]
    package var collection = Collection.automatic

    package init() {}
}
