package import SafeFiles

/// A consistent view of a store, lent for as long as a closure runs.
package struct StoreView {
    /// How the view was got.
    package enum Kind: Sendable {
        /// In place; nothing can have been written meanwhile, or the work is done again.
        case immutable
        /// From a copy of our own of main file, log and journal.
        case privateCopy
        /// By a read transaction in place, because others never stopped writing.
        case live
    }

    package let connection: StoreConnection
    /// The state of the files that the view shows.
    package let token: FileToken
    package let header: StoreHeader
    /// What the kernel says of the main file.
    package let status: FileStatus
    /// The folder that holds the store.
    package let folder: Directory
    /// The folder of external binary data, when there is one.
    package let externalData: Directory?
    package let kind: Kind
}
