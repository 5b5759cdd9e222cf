/// The next command to run, as a value; the tool prints the command line.
public enum NextStep: Hashable, Sendable {
    /// Retire the old store, once every process uses the new one.
    case retire(old: String)
    /// Finish or roll back an interrupted run.
    case resume(old: String)
    /// Run the share with the options of the present run, and these flags, which make the pending decision.
    case share(old: String, new: String, flags: [String])
    /// Show the state of both paths.
    case status(old: String, new: String)
    /// Verify a store.
    case verify(store: String)
    /// Inspect a path.
    case inspect(path: String)
    /// Show the differences of two stores.
    case diff(String, String)
    /// Merge one store into another.
    case merge(into: String, from: String)
    /// Undo the last merge into a store.
    case unmerge(into: String)
    /// Move back to the old store, with the new one's content.
    case unshare(old: String, new: String)
    /// Create a missing folder.
    case makeFolder(path: String)
}
