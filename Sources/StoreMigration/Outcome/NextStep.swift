/// The one thing to do next, as a value; the command line turns it into the command to type.
public enum NextStep: Hashable, Sendable {
    /// When every process uses the new place, remove the old one.
    case retire(old: String)
    /// Finish or roll back an interrupted run.
    case resume(old: String)
    /// Run the share again, with the flags that settle what is open.
    case share(old: String, new: String, flags: [String])
    /// Look at what stands where.
    case status(old: String, new: String)
    /// Prove a store again, or see what is wrong with it.
    case verify(store: String)
    /// See what a place holds.
    case inspect(path: String)
    /// See what two stores hold differently.
    case diff(String, String)
    /// Merge one store into another.
    case merge(into: String, from: String)
    /// Take back what the last merge into a store did.
    case unmerge(into: String)
    /// Go back to the old place, with what is in the new one.
    case unshare(old: String, new: String)
    /// Create the folder that is missing.
    case makeFolder(path: String)
}
