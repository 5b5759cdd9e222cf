internal import CConfinement
internal import ChildProcesses
internal import Glibc
internal import StoreStrategies
internal import Synchronization

/// A running plugin, with our ends of its streams.
final class PluginProcess {
    private static let nobody: uid_t = 65_534
    private static let mostAttempts = 100

    /// Its standard output, the wire.
    let output: Pipe
    /// Its standard error.
    let errors: Pipe
    private let child: ChildProcess
    private var isEnded = false

    /// Starts it in its sandbox, with `input` as its whole standard input.
    init(_ plugin: PluginFile, reading input: [UInt8], in sandbox: PluginSandbox) throws {
        (output, errors) = (try Pipe(), try Pipe())
        let ruleset = try sandbox.ruleset(for: plugin)
        defer { if ruleset != -1 { close(ruleset) } }
        OrphanAdoption.begin()
        do {
            child = try Self.startAmongOthers(plugin, input, output, errors, ruleset, sandbox)
        } catch {
            OrphanAdoption.end()
            throw error
        }
        output.closeWriting()
        errors.closeWriting()
    }

    /// Starts it, and retries when the number of its user's processes grew since they were counted.
    ///
    /// The kernel's limit counts the processes of a user, not of a plugin, so a fork bomb could keep other plugins from
    /// starting. It soon reaches its own limit, and its processes are then part of the count.
    private static func startAmongOthers(
        _ plugin: PluginFile,
        _ input: [UInt8],
        _ output: Pipe,
        _ errors: Pipe,
        _ ruleset: Int32,
        _ sandbox: PluginSandbox
    ) throws(ChildProcessError) -> ChildProcess {
        var attempts = 1
        while true {
            do throws(ChildProcessError) {
                return try ChildProcess(
                    program(plugin, ruleset, sandbox),
                    input: .bytes(input),
                    output: .descriptor(output.writing),
                    errors: .descriptor(errors.writing)
                )
            } catch {
                guard error.isWantOfProcesses, attempts < mostAttempts else { throw error }
                attempts += 1
            }
        }
    }

    private static func program(_ plugin: PluginFile, _ ruleset: Int32, _ sandbox: PluginSandbox) -> Program {
        let limits = sandbox.limits
        // Resource limits do not bind root, who could also lift them.
        let user = geteuid() == 0 ? nobody : geteuid()
        var program = Program([plugin.path], environment: PluginSandbox.environment, folder: "/")
        program.endsWithThread = true
        program.confinement = ProcessConfinement(
            ruleset: ruleset,
            filtersCalls: sandbox.kernel.filtersCalls,
            user: geteuid() == 0 ? user : nil,
            limits: .init(
                cpuSeconds: limits.cpuSeconds,
                memoryBytes: limits.memoryBytes,
                processes: UserTasks.count(of: user) + limits.processes,
                descriptors: limits.descriptors
            )
        )
        return program
    }

    /// True once the program itself has ended; it is not reaped before ``end()``, which needs its group.
    var hasEnded: Bool { child.wait(until: .now) == .ended }

    /// How the program ended; read after ``end()``.
    var ending: ChildProcess.Ending? { child.result }

    /// Ends it and everything that it started, and returns when all of these processes have exited.
    ///
    /// A process that is blocked in disk I/O exits when that returns, and is not waited for any longer.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        child.end()
        OrphanAdoption.end()
        output.closeReading()
        errors.closeReading()
    }

    deinit { end() }
}

/// Makes orphans of plugins children of this process while a plugin runs, so that they can be waited for.
enum OrphanAdoption {
    private struct State {
        var plugins = 0
        /// True when this process was a subreaper already.
        var wasOn = false
    }

    private static let state = Mutex(State())

    static func begin() {
        state.withLock { state in
            if state.plugins == 0 {
                state.wasOn = cconfinement_adopts_orphans() != 0
                _ = cconfinement_adopt_orphans(1)
            }
            state.plugins += 1
        }
    }

    static func end() {
        state.withLock { state in
            state.plugins -= 1
            if state.plugins == 0, !state.wasOn { _ = cconfinement_adopt_orphans(0) }
        }
    }
}
