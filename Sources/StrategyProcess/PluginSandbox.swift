internal import CConfinement
internal import Glibc
internal import StoreStrategies
internal import SystemPackage

/// The sandbox of a plugin, which may read itself, its data folder and the system's libraries, compute, and answer.
///
/// The plugin has no network, writes no file, inherits no descriptor and almost no environment, and is ended with all
/// processes that it started. A denied call fails in the plugin; the host notices only a missing answer.
public struct PluginSandbox: Sendable {
    /// What to do on a kernel that cannot enforce the whole sandbox.
    public enum Policy: String, Sendable, Codable, CaseIterable {
        /// Refuse every plugin.
        case required
        /// Continue with what the kernel can enforce; ``ProcessStrategy/gaps`` lists what is missing.
        case bestEffort = "best-effort"
    }

    /// How much a plugin may use.
    public struct Limits: Hashable, Sendable {
        /// The time for all conversations of one ``ProcessStrategy`` together, from each start to its end.
        public var deadline: Duration = .seconds(30)
        public var cpuSeconds: UInt64 = 20
        /// The address space of each of its processes.
        public var memoryBytes: UInt64 = 1 << 30
        /// The processes and threads, in addition to those that its user has already.
        public var processes: UInt64 = 32
        public var descriptors: UInt64 = 64
        /// The bytes of all its output.
        public var outputBytes = 1 << 20

        public init() {}
    }

    /// True on a kernel that can enforce the whole sandbox.
    public static var isKernelAble: Bool { KernelProtection.current.gaps.isEmpty }

    /// A sandbox that refuses plugins where the kernel cannot enforce all of it.
    public static let required = PluginSandbox()

    public var policy: Policy
    public var limits: Limits
    package var kernel = KernelProtection.current

    public init(policy: Policy = .required, limits: Limits = Limits()) {
        self.policy = policy
        self.limits = limits
    }

    /// What this kernel cannot deny a plugin.
    public var gaps: [Gap] { kernel.gaps }

    /// The whole of the environment.
    static let environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]

    /// What every program needs to start: libraries, interpreters, and the linker's cache.
    private static let systemPlaces = [
        "/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives", "/dev/zero", "/dev/urandom",
    ]
    /// Needed by redirections of a shell.
    private static let sink = "/dev/null"

    /// Everything that `plugin` may read, with all paths below.
    static func readablePlaces(for plugin: PluginFile) -> [String] {
        systemPlaces + RuntimeLibraries.folders + [plugin.path] + [plugin.dataFolder].compactMap(\.self)
    }

    /// Throws on a kernel that cannot enforce what the policy requires.
    func requireKernel(for plugin: PluginFile) throws(StrategyError) {
        guard policy == .required, !gaps.isEmpty else { return }
        throw StrategyError(
            .failed,
            "\(plugin.title) is not run: this kernel cannot keep it from \(gaps.text)",
            recoverySuggestion: "Leave it out, or allow the sandbox policy best-effort if you trust it."
        )
    }

    /// Makes the Landlock rule set for a plugin; -1 on a kernel without Landlock.
    ///
    /// The caller closes it.
    func ruleset(for plugin: PluginFile) throws(Errno) -> Int32 {
        guard kernel.landlockVersion > 0 else { return -1 }
        let ruleset = cconfinement_landlock_ruleset(kernel.landlockVersion)
        guard ruleset != -1 else { throw Errno(rawValue: errno) }
        do {
            for path in Self.readablePlaces(for: plugin) { try Self.allow(path, in: ruleset) }
            try Self.allow(Self.sink, as: CCONFINEMENT_SINK, in: ruleset)
        } catch {
            close(ruleset)
            throw error
        }
        return ruleset
    }

    private static func allow(
        _ path: String,
        as place: cconfinement_place? = nil,
        in ruleset: Int32
    ) throws(Errno) {
        let descriptor = cconfinement_open_path(path)
        // A path that does not exist on this system needs no rule.
        guard descriptor != -1 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno(rawValue: errno) }
        let found = status.st_mode & S_IFMT == S_IFDIR ? CCONFINEMENT_FOLDER : CCONFINEMENT_FILE
        guard cconfinement_landlock_allow(ruleset, descriptor, place ?? found) == 0 else {
            throw Errno(rawValue: errno)
        }
    }
}
