/// The store to be replaced no longer has the expected content.
struct DestinationWritten: Error {}
