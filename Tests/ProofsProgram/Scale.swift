import FaultSupport
import SafeFiles

/// How much is to be tried.
struct Scale: Sendable {
    /// Every point and every state, however long it takes, for as long as the deadline allows.
    var isExhaustive = false
    /// What decides which samples are taken and in which order things happen; any number.
    var seed: Int
    /// No harness begins anything after it.
    var deadline: Deadline

    /// One broken promise is enough: the tool makes a known mistake, and it is asked whether anybody notices.
    var stopsAtFirst = false

    /// Only commands whose names begin with this.
    var only = ""

    /// The journal modes of the stores, for harnesses that try both.
    var journalModes = ["wal", "delete"]

    /// How many walks, how many of their commands are killed, and over which shapes of stores.
    var walks: Int?
    var kills = 0.3
    var live = 0.3
    var shapes: [String]?

    /// The file system on which everything happens, in a machine of its own, if one was named.
    var fileSystem: BlockFileSystem?

    /// As many as the gate asks for, or as many as there is time for.
    func count(_ gate: Int) -> Int { isExhaustive ? .max : gate }
}
