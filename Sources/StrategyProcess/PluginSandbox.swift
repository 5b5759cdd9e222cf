internal import CConfinement
internal import Glibc
internal import StoreStrategies
internal import SystemPackage

/// What a plugin may do: read its own folder and the system's libraries, compute, and answer.
///
/// It has no network, writes no file, inherits no descriptor and next to no environment, and is ended with everything it
/// started. What it may not do fails inside it; that is its own affair, unless no answer comes.
public struct PluginSandbox: Sendable {
    /// What to do on a kernel that cannot keep a program from files.
    public enum Policy: String, Sendable, Codable, CaseIterable {
        /// Refuse every plugin.
        case required
        /// Go on with the limits that there are.
        case bestEffort = "best-effort"
    }

    /// How much a plugin may use.
    public struct Limits: Hashable, Sendable {
        /// The time from its start to its last answer.
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

    /// True on a kernel that can keep plugins from files.
    public static var isKernelAble: Bool { cconfinement_landlock_version() > 0 }

    /// A sandbox that is refused where the kernel cannot make it.
    public static let required = PluginSandbox()

    public var policy: Policy
    public var limits: Limits
    /// The version of Landlock that the kernel has; less than 1 for none.
    package var landlockVersion: Int32

    public init(policy: Policy = .required, limits: Limits = Limits()) {
        self.policy = policy
        self.limits = limits
        landlockVersion = cconfinement_landlock_version()
    }

    /// The whole of the environment.
    static let environment = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]

    /// What every program needs to start: libraries, interpreters, and the list of them.
    private static let systemPlaces = [
        "/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives", "/dev/null", "/dev/zero",
        "/dev/urandom",
    ]

    /// Throws on a kernel without what the policy asks for.
    func requireKernel(for name: String) throws(StrategyError) {
        guard policy == .required, landlockVersion < 1 else { return }
        throw StrategyError(
            .failed,
            "the plugin \(name) is not run, for this kernel cannot keep it from files (Landlock)",
            recoverySuggestion: "Leave it out, or pass --plugin-sandbox best-effort if you trust it."
        )
    }

    /// Makes the rule set for a plugin in `folder`; -1 where there is none to make.
    ///
    /// The caller closes it.
    func ruleset(readingFrom folder: String) throws(Errno) -> Int32 {
        guard landlockVersion > 0 else { return -1 }
        let ruleset = cconfinement_landlock_ruleset(landlockVersion)
        guard ruleset != -1 else { throw Errno(rawValue: errno) }
        do {
            for path in Self.systemPlaces + RuntimeLibraries.folders + [folder] {
                try Self.allow(path, in: ruleset)
            }
        } catch {
            close(ruleset)
            throw error
        }
        return ruleset
    }

    private static func allow(_ path: String, in ruleset: Int32) throws(Errno) {
        let descriptor = cconfinement_open_path(path)
        // What a system does not have need not be allowed.
        guard descriptor != -1 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno(rawValue: errno) }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        guard cconfinement_landlock_allow(ruleset, descriptor, isFolder ? 1 : 0) == 0 else {
            throw Errno(rawValue: errno)
        }
    }
}
