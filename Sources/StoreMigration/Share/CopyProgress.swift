import StoreFormat

/// What a run has made so far, for the later steps and for rollback.
struct CopyProgress {
    var nest: Nest?
    var copy: StagedCopy?
    /// The connection that held the old store's write lock; it stays open to the end of the run.
    var lock: StoreConnection?
    /// The old store's state when its copy was completed.
    var oldStore: LockedMoment?
    /// How long the old store's write lock was held.
    var lockHold: Duration?
    /// The content digest of the completed copy, if taken before publication.
    var digest: String?
    /// True once a fence may be committed in the old store although nothing is published.
    var isFencedFirst = false
    var findings: [Finding] = []
}
