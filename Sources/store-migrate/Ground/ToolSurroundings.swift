import FoundationEssentials
import Glibc
import StoreMigration

/// The streams, environment and folder of a run, supplied by the process or by a test that calls the tool.
struct ToolSurroundings: Sendable {
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
    @TaskLocal static var current = ToolSurroundings()

    /// The current environment of the process, unless the caller supplied a value.
    var environment: [String: String] {
        get { givenEnvironment ?? ProcessInfo.processInfo.environment }
        set { givenEnvironment = newValue }
    }

    /// Throws if the path of the working folder is unknown, or it or a variable that names a file is not valid UTF-8.
    ///
    /// Foundation would replace the invalid bytes, so that relative paths name files of another folder, and would drop the
    /// variable.
    func requireUnicodeNames() throws {
        guard ownsProcess else { return }
        guard Self.isFolderUnicode else {
            throw Failure(
                outcome: .usage,
                message: "the path of the working folder is not valid UTF-8",
                advice: "Change to another folder, and name paths that are valid UTF-8."
            )
        }
        guard Self.isFolderKnown else {
            throw Failure(
                outcome: .usage,
                message: "the working folder was removed, or its path is too long",
                advice: "Change to another folder."
            )
        }
        guard let name = Self.unreadableVariable else { return }
        throw Failure(
            outcome: .usage,
            message: "$\(name) is not valid UTF-8",
            advice: "Correct the variable, or unset it."
        )
    }

    /// False without a working folder, and for one whose path Foundation cannot hold: it would resolve paths against `/`.
    private static var isFolderKnown: Bool {
        guard let path = getcwd(nil, 0) else { return false }
        defer { free(path) }
        return FileManager.default.currentDirectoryPath == String(cString: path)
    }

    private static var isFolderUnicode: Bool {
        guard let path = getcwd(nil, 0) else { return true }
        defer { free(path) }
        return String(validatingCString: path) != nil
    }

    /// The name of a variable that names a file or configures the tool, and is not valid UTF-8.
    private static var unreadableVariable: String? {
        var next = environ
        while let entry = next.pointee {
            next += 1
            guard String(validatingCString: entry) == nil else { continue }
            let name = String(decoding: String(cString: entry).utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
            if name.hasPrefix("STORE_MIGRATE_") || ["XDG_DATA_HOME", "TMPDIR", "HOME"].contains(name) { return name }
        }
        return nil
    }

    /// Becomes the owner of the old store if the run owns its process.
    func becomeOwner(of store: URL, stateFolder: URL? = nil) throws {
        if ownsProcess { try OldStoreOwner.become(store, stateFolder: stateFolder) }
    }
}
