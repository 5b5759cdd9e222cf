import StoreFormat

/// The old store was written to between its inspection and the record of its content.
struct OldStoreWritten: Error {
    let path: String
}

/// The destination's name was taken, or its file removed, during the copy.
struct DestinationAppeared: Error {
    let path: String
}

/// The store to be replaced no longer has the expected content.
struct DestinationWritten: Error {}
