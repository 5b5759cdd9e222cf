import StoreFormat

/// What a run has made so far, for those who go on with it or take it back.
struct CopyProgress {
    var nest: Nest?
    var copy: StagedCopy?
    /// The connection that held the old store's write lock; it stays open to the end of the run.
    var lock: StoreConnection?
    /// The old store when its copy was completed.
    var oldStore: LockedMoment?
    /// How long writers were kept waiting.
    var lockHold: Duration?
    /// The content digest of the completed copy, where it was taken before the copy appeared.
    var digest: String?
    var findings: [Finding] = []
}
