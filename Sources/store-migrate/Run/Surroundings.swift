import FoundationEssentials
import StoreMigration

/// The streams, environment and folder of a run, supplied by the process or by a test that calls the tool.
struct Surroundings: Sendable {
    var output = StandardStream(descriptor: 1)
    var error = StandardStream(descriptor: 2)
    /// The folder that relative paths start from; nil for the working directory of the process.
    var folder: String?
    /// The executable of the tool, which the merge probe starts as its writer.
    var program = "/proc/self/exe"
    /// True if the process runs only the tool: the run may handle signals and change its user.
    var ownsProcess = true
    private var givenEnvironment: [String: String]?

    /// The surroundings of the run on this thread.
    @TaskLocal static var current = Surroundings()

    /// The current environment of the process, unless the caller supplied a value.
    var environment: [String: String] {
        get { givenEnvironment ?? ProcessInfo.processInfo.environment }
        set { givenEnvironment = newValue }
    }

    /// Becomes the owner of the old store if the run owns its process.
    func becomeOwner(of store: URL, stateFolder: URL? = nil) throws {
        if ownsProcess { try OldStoreOwner.become(store, stateFolder: stateFolder) }
    }
}
