public import StoreAccess
public import StoreVerification

/// How a publication ended, with its proof and all paths.
public struct PublishOutcome: Sendable {
    /// `published`, or `alreadyPublished` when the store has not changed since.
    public let outcome: MigrationOutcome
    /// The path of the private store.
    public let source: String
    /// The path of the snapshot.
    public let path: String
    /// The content digest of the snapshot.
    public let digest: String?
    /// The bytes of the snapshot's main file and of the external files that were copied; 0 when nothing was written.
    public let bytes: Int64
    /// The external files that were copied now.
    public let externalFiles: Int
    /// The part of the store that is published.
    public let selection: SnapshotSelection
    /// The objects that were left out now; 0 when nothing was written.
    public let objectsLeftOut: Int64
    /// The former snapshots that readers still have open; a later publication removes them.
    public let openFormerSnapshots: Int
    /// The proof; nil when nothing was written.
    public let report: VerificationReport?
    public let findings: [Finding]
}

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

/// What a caller decides about a publication.
public struct PublishOptions: Sendable {
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// The part of the store to publish.
    public var selection = SnapshotSelection()
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false
    /// True for a program that root may run: it becomes the store's owner for good.
    public var becomesOwner = false

    public init() {}
}
