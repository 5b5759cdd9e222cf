internal import CConfinement
internal import Glibc
internal import StoreStrategies
internal import SystemPackage

/// A plugin at work, with the ends of its streams that are ours.
final class PluginProcess {
    private static let nobody: uid_t = 65_534
    private static let mostAttempts = 100
    /// In milliseconds.
    private static let longestEnd: Int32 = 10_000

    /// What it says on the wire.
    let output: Int32
    /// What it says beside it.
    let errors: Int32
    private let group: pid_t
    private var isEnded = false

    /// Starts it in its sandbox, with `input` as everything that it will ever read.
    init(_ plugin: PluginFile, reading input: [UInt8], in sandbox: PluginSandbox) throws {
        let streams = try PluginStreams(input: input)
        defer { streams.closeTheirs() }
        let ruleset: Int32
        do {
            ruleset = try sandbox.ruleset(for: plugin)
        } catch {
            streams.closeOurs()
            throw error
        }
        defer { if ruleset != -1 { close(ruleset) } }
        OrphanAdoption.begin()
        do {
            group = try Self.spawnAmongOthers(plugin, streams, ruleset, sandbox)
        } catch {
            OrphanAdoption.end()
            streams.closeOurs()
            throw error
        }
        output = streams.output.ours
        errors = streams.errors.ours
    }

    /// Starts it, again where others of its user became more since they were counted.
    ///
    /// The kernel counts the processes of a user, not of a plugin: one that forks without end could keep others from
    /// starting. It is soon at its own limit, and then counts as what is there already.
    private static func spawnAmongOthers(
        _ plugin: PluginFile,
        _ streams: PluginStreams,
        _ ruleset: Int32,
        _ sandbox: PluginSandbox
    ) throws(Errno) -> pid_t {
        for _ in 1..<mostAttempts {
            do throws(Errno) {
                return try spawn(plugin, streams, ruleset, sandbox)
            } catch {
                guard error == .resourceTemporarilyUnavailable else { throw error }
            }
        }
        return try spawn(plugin, streams, ruleset, sandbox)
    }

    private static func spawn(
        _ plugin: PluginFile,
        _ streams: PluginStreams,
        _ ruleset: Int32,
        _ sandbox: PluginSandbox
    ) throws(Errno) -> pid_t {
        let limits = sandbox.limits
        // The superuser has no limits, and could undo others.
        let user = geteuid() == 0 ? nobody : geteuid()
        let process = CStrings.withPointers([plugin.path], PluginSandbox.environment) { arguments, environment in
            plugin.path.withCString { path in
                var confinement = cconfinement_confinement()
                confinement.path = path
                confinement.arguments = UnsafePointer(arguments)
                confinement.environment = UnsafePointer(environment)
                confinement.input = streams.input
                confinement.output = streams.output.theirs
                confinement.errors = streams.errors.theirs
                confinement.ruleset = ruleset
                confinement.filters_calls = sandbox.kernel.filtersCalls ? 1 : 0
                confinement.user = geteuid() == 0 ? Int64(user) : -1
                confinement.group = geteuid() == 0 ? Int64(user) : -1
                confinement.cpu_seconds = limits.cpuSeconds
                confinement.memory_bytes = limits.memoryBytes
                confinement.processes = UserTasks.count(of: user) + limits.processes
                confinement.descriptors = limits.descriptors
                return cconfinement_spawn_confined(&confinement)
            }
        }
        guard process != -1 else { throw Errno(rawValue: errno) }
        return process
    }

    /// Ends it and everything that it started, and returns when all of them are gone.
    ///
    /// What a disk keeps from ending, ends as soon as the disk lets it, and is not waited for any longer.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        _ = cconfinement_end_group(group, Self.longestEnd)
        OrphanAdoption.end()
        close(output)
        close(errors)
    }

    deinit { end() }
}
