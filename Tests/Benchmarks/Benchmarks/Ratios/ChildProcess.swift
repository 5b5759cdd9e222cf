import Glibc

/// A program run to its end, with its time and memory.
struct ChildProcess {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let status: Int32
    let duration: Duration
    /// The peak resident memory, in kilobytes.
    let peakMemory: Int

    /// Runs a program and waits for it; throws unless it exits with 0.
    @discardableResult
    static func run(_ program: String, _ arguments: [String], input: String? = nil) throws -> ChildProcess {
        let start = ContinuousClock.now
        let child = try wait(for: spawn(program, arguments, input: input), since: start)
        guard child.status == 0 else {
            throw Failure(description: "\(program) \(arguments.joined(separator: " ")): wait status \(child.status)")
        }
        return child
    }

    /// Starts a program on the `PATH`, with its output discarded and `input` as its standard input.
    static func spawn(_ program: String, _ arguments: [String], input: String? = nil) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input ?? "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // Benchmark threads block signals; a child must not inherit that mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        let code = posix_spawnp(&child, program, &actions, &attributes, &words, environ)
        guard code == 0 else {
            throw Failure(description: "\(program) could not be started: \(String(cString: strerror(code)))")
        }
        return child
    }

    static func wait(for child: pid_t, since start: ContinuousClock.Instant) throws -> ChildProcess {
        var status: Int32 = 0
        var usage = rusage()
        while wait4(child, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw Failure(description: "a child process cannot be waited for") }
        }
        return ChildProcess(
            status: status,
            duration: start.duration(to: .now),
            peakMemory: Int(usage.ru_maxrss)
        )
    }
}
