import FaultSupport
import SafeFiles

/// The amount of work of a run.
struct Scale: Sendable {
    /// True to try every point and state that the deadline allows.
    var isExhaustive = false
    /// The seed of samples and orders.
    var seed: Int
    /// The time after which no harness begins a try.
    var deadline: Deadline

    /// True to stop at the first violation, for a tool with a seeded bug.
    var stopsAtFirst = false

    /// Only commands whose names begin with this.
    var only = ""

    /// The journal modes of the stores, for harnesses that try both.
    var journalModes = ["wal", "delete"]

    /// The number of walks, the fractions of their commands, and the shapes of their stores.
    var walks: Int?
    /// The seeds of single walks to repeat.
    var walk: [UInt64] = []
    var kills = 0.3
    var failures = 0.1
    var live = 0.3
    var shapes: [String]?

    /// The file with a schedule to repeat.
    var schedule: String?

    /// The file system to mount in private namespaces, if one was named.
    var fileSystem: BlockFileSystem?

    /// The number of tries: the gate's, or unlimited for an exhaustive run.
    func count(_ gate: Int) -> Int { isExhaustive ? .max : gate }
}
