internal import Glibc

/// What is to be started: a program with its words, its environment and the folder it runs in.
package struct Program: Sendable {
    /// The name or path, then the arguments; a name is searched in the program's `PATH`, else in this process's.
    package var words: [String]
    /// The whole environment.
    package var environment: [String: String]
    /// Where it runs; nil for where this process is.
    package var folder: String?
    /// True to have the kernel kill it when the thread that starts it ends, however early that is.
    package var endsWithThread = false
    /// What keeps it from everything else; nil for a program that is trusted.
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

    /// Where the program is.
    var path: String {
        let name = words.first ?? ""
        guard !name.utf8.contains(UInt8(ascii: "/")),
            let folders = environment["PATH"] ?? getenv("PATH").map({ String(cString: $0) })
        else { return name }
        return folders.split(separator: ":").lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 } ?? name
    }
}

/// What a program may not do that nobody trusts: a Landlock rule set, a filter of calls, a user of its own, and limits.
package struct ProcessConfinement: Sendable {
    /// How much the program may use; where this process has less, the program gets that.
    package struct Limits: Sendable {
        package var cpuSeconds: UInt64
        /// Of address space, for each process.
        package var memoryBytes: UInt64
        /// Of all processes and threads of its user.
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
    /// The user, and the group of the same number, to become; nil to stay.
    package var user: UInt32?
    package var limits: Limits

    package init(ruleset: Int32, filtersCalls: Bool, user: UInt32?, limits: Limits) {
        self.ruleset = ruleset
        self.filtersCalls = filtersCalls
        self.user = user
        self.limits = limits
    }
}

/// Why a program could not be started, or was not run to its end.
package enum ChildProcessError: Error, Hashable, CustomStringConvertible {
    case cannotStart(String, errno: Int32)
    case late(String)
    case cancelled(String)
    case tooMuchOutput(String, bytes: Int)

    /// True when the user has as many processes as it may have.
    package var isWantOfProcesses: Bool {
        if case .cannotStart(_, EAGAIN) = self { true } else { false }
    }

    /// Why it could not be started, in the kernel's words; what happened, for a program that was.
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
