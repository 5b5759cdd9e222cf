internal import CConfinement
internal import FoundationEssentials
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

extension PluginSandbox {
    /// Something that the sandbox denies a plugin, and that some kernels cannot deny.
    public enum Gap: String, Sendable, Codable, CaseIterable {
        /// Every file except its own and the system's: Landlock 1.
        case files
        /// The length of files that it may read: Landlock 3, or the system call filter.
        case truncation
        /// Sockets of every kind: the system call filter. Landlock 4 has TCP alone.
        case network
        /// The controls of devices: Landlock 5, or the system call filter.
        case devices
        /// Signals to processes that it did not start: Landlock 6, or the system call filter.
        case signals
        /// The modes, owners and times of files: the system call filter.
        case attributes
        /// Leaving the process group in which it is ended: the system call filter.
        case processGroup
    }
}

extension PluginSandbox.Gap: CustomStringConvertible {
    /// A fragment that can follow "cannot keep it from".
    public var description: String {
        switch self {
        case .files: "files (Landlock)"
        case .truncation: "cutting files that it may read"
        case .network: "the network"
        case .devices: "the controls of devices"
        case .signals: "sending signals"
        case .attributes: "the modes and times of files"
        case .processGroup: "leaving the processes that are ended with it"
        }
    }
}

extension [PluginSandbox.Gap] {
    /// All gaps in one fragment.
    var text: String { map(\.description).joined(separator: ", ") }
}

/// The means by which this kernel can confine a program.
///
/// Landlock denies files since version 1, truncation of readable files since 3, TCP since 4, ioctl on devices since 5,
/// abstract sockets and signals since 6. Only files need Landlock: the system call filter (seccomp) denies all the
/// others, and more.
package struct KernelProtection: Hashable, Sendable {
    /// Less than 1 for none.
    package var landlockVersion: Int32
    package var filtersCalls: Bool

    /// The means of the running kernel.
    package static let current = KernelProtection(
        landlockVersion: cconfinement_landlock_version(),
        filtersCalls: cconfinement_filters_calls() != 0
    )

    /// What this kernel cannot deny a program.
    package var gaps: [PluginSandbox.Gap] {
        PluginSandbox.Gap.allCases.filter { gap in
            switch gap {
            case .files: landlockVersion < 1
            case .truncation: landlockVersion < 3 && !filtersCalls
            case .network, .attributes, .processGroup: !filtersCalls
            case .devices: landlockVersion < 5 && !filtersCalls
            case .signals: landlockVersion < 6 && !filtersCalls
            }
        }
    }
}

/// The libraries that this process has loaded: a plugin from the same toolchain needs the same.
enum RuntimeLibraries {
    /// The folders of Swift's libraries, each once; empty in a statically linked program.
    static let folders: [String] = {
        var folders: Set<String> = []
        for line in maps().split(separator: "\n") {
            guard let start = line.firstIndex(of: "/"), let end = line.lastIndex(of: "/"), start < end,
                line[end...].hasPrefix("/libswift"), line.contains(".so")
            else { continue }
            folders.insert(String(line[start..<end]))
        }
        return folders.sorted()
    }()

    /// This process's memory map; the kernel's file reports no size, so it is read to its end.
    private static func maps() -> String {
        let file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        guard file != -1 else { return "" }
        defer { close(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += buffer[..<count]
        }
    }
}

/// Counts the processes and threads of a user as the kernel's limit does.
enum UserTasks {
    static func count(of user: uid_t) -> UInt64 {
        var count: UInt64 = 0
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { continue }
            var status = stat()
            // Processes come and go while they are counted.
            guard stat("/proc/\(name)/task", &status) == 0, status.st_uid == user else { continue }
            // A folder has a link from each folder in it, and two of its own.
            count += UInt64(clamping: Int64(status.st_nlink) - 2)
        }
        return count
    }
}
