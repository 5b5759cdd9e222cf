import SafeFiles

/// The destination of a copy: one without a main file, or one whose content is replaced.
protocol CopyDestination: AnyObject {
    /// The store in place; nil before the commit point.
    var placed: PlacedStore? { get }

    /// Publishes the completed copy; contains the commit point.
    ///
    /// `oldToken` is the old store's token when the copy was completed; `digest` is the copy's, if known.
    func publish(
        _ copy: StagedCopy,
        oldToken: FileToken,
        digest: String?,
        _ journal: inout MigrationJournal
    ) throws

    /// Removes files that only the displaced store used, after the commit point.
    func tidy(after copy: StagedCopy) throws
}

/// The new store at the time of publication.
struct PlacedStore {
    let identity: FileIdentity
    /// Nil when the status could not be read.
    var token: FileToken?
}
