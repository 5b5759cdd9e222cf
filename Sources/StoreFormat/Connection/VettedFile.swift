/// A main file that was looked at before SQLite opens it, and is looked at again after.
struct VettedFile {
    /// The real path to open.
    let path: String

    init(_ location: StoreLocation) throws {
        guard !location.path.utf8.contains(0) else {
            throw StoreError(.unreadable, path: location.path, "the name contains NUL")
        }
        path = location.path
    }

    /// Throws when the name now leads to another file than the one that was vetted and opened.
    func requireUnchanged(isMoved: Bool) throws {
        guard !isMoved else {
            throw StoreError(.changedMeanwhile, path: path, "another file took the store's place while it was opened")
        }
    }
}
