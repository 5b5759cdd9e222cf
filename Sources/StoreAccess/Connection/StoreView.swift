package import SafeFiles

/// A consistent view of a store, valid while a closure runs.
package struct StoreView {
    /// How the store is read.
    package enum Kind: Sendable {
        /// In place, without a log; if the store changes meanwhile, the work is repeated.
        case immutable
        /// In place, with a log; if the store changes meanwhile, the work is repeated.
        case unlocked
        /// From a private copy of main file, log and journal.
        case privateCopy
        /// By a read transaction in place, because other processes kept writing.
        case live
    }

    package let connection: StoreConnection
    /// The state of the files in the view.
    package let token: FileToken
    package let header: StoreHeader
    /// The kernel's metadata of the main file.
    package let status: FileStatus
    /// The folder of the store.
    package let folder: Directory
    /// The folder of external binary data, if there is one.
    package let externalData: Directory?
    package let kind: Kind
}
