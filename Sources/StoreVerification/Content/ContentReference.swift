import SafeFiles
import StoreFormat

/// What the content of a store is compared with.
enum ContentReference {
    /// Another store.
    case store(StoreDigest)
    /// What a share recorded of this store, to which nobody wrote since.
    case recorded(String)
    /// Nothing, for this reason: a lower-case clause.
    case none(String)

    /// What a share recorded beside the store, if it still stands for what `view` shows.
    init(recordedBeside location: StoreLocation, seenAs view: StoreView) {
        guard let recorded = RecordedContent(beside: location.name, in: view.folder) else {
            self = .none("there is no other store to compare with, and no share recorded its content")
            return
        }
        guard let token = recorded.token else {
            self = .none("others wrote to the store before the share could record its content")
            return
        }
        self =
            view.token.holdsSameContent(as: token)
            ? .recorded(recorded.digest) : .none("the store was written to since its content was recorded")
    }
}
