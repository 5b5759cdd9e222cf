import SafeFiles

/// Where a copy goes: a place without a main file, or one whose content it replaces.
protocol CopyDestination: AnyObject {
    /// The store in place; nil before the commit point.
    var placed: PlacedStore? { get }

    /// Puts the completed copy into place; the commit point lies in here.
    ///
    /// `oldToken` is the old store's at the moment when the copy was completed; `digest` is the copy's, where it is known.
    func place(
        _ copy: StagedCopy,
        oldToken: FileToken,
        digest: String?,
        _ journal: inout MigrationJournal
    ) throws

    /// Takes back what was done before the commit point.
    func putBack() throws

    /// Removes what the store that was there needs no longer, after the commit point.
    func tidy(after copy: StagedCopy) throws
}

/// The new store as it was when it appeared.
struct PlacedStore {
    let identity: FileIdentity
    /// Nil when the kernel could not be asked.
    var token: FileToken?
}
