internal import Glibc

/// A program to start, with its arguments, environment and working folder.
package struct Program: Sendable {
    /// The name or path, then the arguments; a name is searched in the program's `PATH`, else in this process's.
    package var words: [String]
    /// The whole environment.
    package var environment: [String: String]
    /// The working folder; nil for that of this process.
    package var folder: String?
    /// True to have the kernel kill it when the thread that started it ends, however early that is.
    package var endsWithThread = false
    /// The confinement of an untrusted program; nil for a trusted one.
    package var confinement: ProcessConfinement?

    package init(_ words: [String], environment: [String: String], folder: String? = nil) {
        self.words = words
        self.environment = environment
        self.folder = folder
    }

    /// The environment of this process.
    package static var inheritedEnvironment: [String: String] {
        var result: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return result
    }

    /// The path of the program.
    var path: String {
        let name = words.first ?? ""
        guard !name.utf8.contains(UInt8(ascii: "/")),
            let folders = environment["PATH"] ?? getenv("PATH").map({ String(cString: $0) })
        else { return name }
        return folders.split(separator: ":").lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 } ?? name
    }
}

/// The confinement of an untrusted program: a Landlock rule set, a system call filter, a separate user, and limits.
package struct ProcessConfinement: Sendable {
    /// The program's resource limits; a lower limit of this process applies instead.
    package struct Limits: Sendable {
        package var cpuSeconds: UInt64
        /// Address space of each process.
        package var memoryBytes: UInt64
        /// All processes and threads of its user.
        package var processes: UInt64
        package var descriptors: UInt64

        package init(cpuSeconds: UInt64, memoryBytes: UInt64, processes: UInt64, descriptors: UInt64) {
            self.cpuSeconds = cpuSeconds
            self.memoryBytes = memoryBytes
            self.processes = processes
            self.descriptors = descriptors
        }
    }

    /// A Landlock rule set, which the caller closes; -1 for none.
    package var ruleset: Int32
    package var filtersCalls: Bool
    /// The user, and the group of the same number, to switch to; nil for no change.
    package var user: UInt32?
    package var limits: Limits

    package init(ruleset: Int32, filtersCalls: Bool, user: UInt32?, limits: Limits) {
        self.ruleset = ruleset
        self.filtersCalls = filtersCalls
        self.user = user
        self.limits = limits
    }
}

/// Why a program could not be started, or did not run to its end.
package enum ChildProcessError: Error, Hashable, CustomStringConvertible {
    case cannotStart(String, errno: Int32)
    case late(String)
    case cancelled(String)
    case tooMuchOutput(String, bytes: Int)

    /// True if the user has reached the limit of processes.
    package var isWantOfProcesses: Bool {
        if case .cannotStart(_, EAGAIN) = self { true } else { false }
    }

    /// The kernel's reason why it could not be started; otherwise the description.
    package var reason: String {
        if case .cannotStart(_, let number) = self { String(cString: strerror(number)) } else { description }
    }

    package var description: String {
        switch self {
        case .cannotStart(let path, _): "\(path) cannot be started (\(reason))"
        case .late(let path): "\(path) did not end before its deadline"
        case .cancelled(let path): "\(path) was ended on request"
        case .tooMuchOutput(let path, let bytes): "\(path) printed more than \(bytes) bytes"
        }
    }
}
