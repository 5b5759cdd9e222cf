internal import CConfinement
internal import Glibc
internal import StoreStrategies
internal import SystemPackage

/// What a plugin may do: read itself, its data folder and the system's libraries, compute, and answer.
///
/// It has no network, writes no file, inherits no descriptor and next to no environment, and is ended with everything it
/// started. What it may not do fails inside it; that is its own affair, unless no answer comes.
public struct PluginSandbox: Sendable {
    /// What to do on a kernel that cannot keep a program from all that it is to be kept from.
    public enum Policy: String, Sendable, Codable, CaseIterable {
        /// Refuse every plugin.
        case required
        /// Go on with what there is; ``ProcessStrategy/gaps`` says what is missing.
        case bestEffort = "best-effort"
    }

    /// How much a plugin may use.
    public struct Limits: Hashable, Sendable {
        /// The time for all that one ``ProcessStrategy`` asks it, from each start to the end that follows.
        public var deadline: Duration = .seconds(30)
        public var cpuSeconds: UInt64 = 20
        /// Of address space, for each of its processes.
        public var memoryBytes: UInt64 = 1 << 30
        /// Of processes and threads, beyond those that its user has already.
        public var processes: UInt64 = 32
        public var descriptors: UInt64 = 64
        /// Of everything it says.
        public var outputBytes = 1 << 20

        public init() {}
    }

    /// True on a kernel that can keep plugins from everything that they are to be kept from.
    public static var isKernelAble: Bool { KernelProtection.current.gaps.isEmpty }

    /// A sandbox that is refused where the kernel cannot make it.
    public static let required = PluginSandbox()

    public var policy: Policy
    public var limits: Limits
    package var kernel = KernelProtection.current

    public init(policy: Policy = .required, limits: Limits = Limits()) {
        self.policy = policy
        self.limits = limits
    }

    /// What nothing keeps a plugin from here.
    public var gaps: [Gap] { kernel.gaps }

    /// The whole of the environment.
    static let environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]

    /// What every program needs to start: libraries, interpreters, and the list of them.
    private static let systemPlaces = [
        "/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives", "/dev/zero", "/dev/urandom",
    ]
    /// What a shell's redirections need; nothing is kept of what is written there.
    private static let sink = "/dev/null"

    /// Everything that `plugin` may read, with all that lies below it.
    static func readablePlaces(for plugin: PluginFile) -> [String] {
        systemPlaces + RuntimeLibraries.folders + [plugin.path] + [plugin.dataFolder].compactMap(\.self)
    }

    /// Throws on a kernel without what the policy asks for.
    func requireKernel(for name: String) throws(StrategyError) {
        guard policy == .required, !gaps.isEmpty else { return }
        throw StrategyError(
            .failed,
            "the plugin \(name) is not run, for this kernel cannot keep it from \(gaps.text)",
            recoverySuggestion: "Leave it out, or pass --plugin-sandbox best-effort if you trust it."
        )
    }

    /// Makes the rule set for a plugin; -1 where there is none to make.
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
        // What a system does not have need not be allowed.
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
