internal import ChildProcesses
internal import Glibc
internal import StoreStrategies

/// A plugin at work, with the ends of its streams that are ours.
final class PluginProcess {
    private static let nobody: uid_t = 65_534
    private static let mostAttempts = 100

    /// What it says on the wire.
    let output: Pipe
    /// What it says beside it.
    let errors: Pipe
    private let child: ChildProcess
    private var isEnded = false

    /// Starts it in its sandbox, with `input` as everything that it will ever read.
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

    /// Starts it, again where others of its user became more since they were counted.
    ///
    /// The kernel counts the processes of a user, not of a plugin: one that forks without end could keep others from
    /// starting. It is soon at its own limit, and then counts as what is there already.
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
        // The superuser has no limits, and could undo others.
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

    /// Ends it and everything that it started, and returns when all of them are gone.
    ///
    /// What a disk keeps from ending, ends as soon as the disk lets it, and is not waited for any longer.
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
