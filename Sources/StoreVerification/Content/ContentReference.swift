import SafeFiles
import StoreFormat

/// The reference that the content of a store is compared with.
enum ContentReference {
    /// Another store.
    case store(StoreDigest)
    /// The digest that a share recorded of this store, which was not written to since.
    case recorded(String)
    /// Nothing, for this reason: a lower-case clause.
    case none(String)

    /// The digest that a share recorded beside the store, if `view` shows the store unchanged since.
    init(recordedBeside location: StoreLocation, seenAs view: StoreView) {
        guard let recorded = RecordedContent(beside: location.name, in: view.folder) else {
            self = .none("there is no other store to compare with, and no share recorded its content")
            return
        }
        guard let token = recorded.token else {
            self = .none("other processes wrote to the store before the share could record its content")
            return
        }
        self =
            view.token.holdsSameContent(as: token)
            ? .recorded(recorded.digest) : .none("the store was written to since its content was recorded")
    }
}
