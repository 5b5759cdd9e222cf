import ChangeMerging
import SafeFiles
import StoreFormat

extension MergePlace {
    /// The store that a view shows, held as it is.
    init(pinning view: StoreView) throws {
        // A live view holds its transaction already.
        if view.kind != .live { try view.connection.beginReading() }
        self.init(view.connection, externalData: view.externalData)
    }
}

extension StoreView {
    /// Throws when somebody wrote to the store since it is looked at in place: what was read belongs to no one state then.
    func requireUnchanged() throws {
        guard kind == .immutable else { return }
        let location = connection.location
        guard try folder.token(of: location.name) == token else {
            throw StoreError(.changedMeanwhile, path: location.path, "the store was written to while it was merged")
        }
    }
}
