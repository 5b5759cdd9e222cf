/// The part of a Core Data store that a snapshot has.
///
/// The model stays, so that readers open the snapshot with theirs. Objects of an entity go with those of its subentities,
/// and relationships to them become empty.
public struct SnapshotSelection: Hashable, Sendable, Codable {
    /// The entities whose objects are published; empty for all.
    public var only: Set<String>
    /// What is left out: entities as `Entity`, attributes as `Entity.attribute`.
    public var without: Set<String>

    public init(only: Set<String> = [], without: Set<String> = []) {
        (self.only, self.without) = (only, without)
    }

    /// True if nothing is left out.
    public var isWhole: Bool { only.isEmpty && without.isEmpty }
}
