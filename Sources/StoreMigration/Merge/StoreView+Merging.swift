import ChangeMerging
import SafeFiles
import StoreFormat

extension MergePlace {
    /// The store of a view, pinned by a read transaction.
    init(pinning view: StoreView) throws {
        // A live view has a transaction already.
        if view.kind != .live { try view.connection.beginReading() }
        self.init(view.connection, externalData: view.externalData)
    }
}

extension StoreView {
    /// Throws when the store changed since the view was opened in place: the reads then describe no single state.
    func requireUnchanged() throws {
        guard kind == .immutable else { return }
        let location = connection.location
        guard try folder.token(of: location.name) == token else {
            throw StoreError(.changedMeanwhile, path: location.path, "the store was written to while it was merged")
        }
    }
}
