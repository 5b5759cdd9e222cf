/// The store whose content was to be replaced holds something else than was known of it.
struct DestinationWritten: Error {}
