public import ArgumentParser
import ChangeMerging
import StoreMigration
import StoreStrategies
public import StrategyProcess

/// How plugins, and other programs that decide for the caller, are confined.
struct SandboxArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the kernel cannot confine a plugin fully (Landlock, seccomp): required or best-effort.",
            valueName: "policy"
        )
    )
    var pluginSandbox: PluginSandbox.Policy = .required

    @Option(
        help: ArgumentHelp(
            "How long a plugin, or the program of --confirm or --resolver, may run in total, at most 30s.",
            valueName: "duration"
        ),
        transform: LockTimeout.init(argument:)
    )
    var pluginTimeout = LockTimeout(seconds: 30)

    func validate() throws { try Self.requireTimeout(pluginTimeout) }

    static func requireTimeout(_ timeout: LockTimeout) throws {
        guard timeout.duration <= PluginSandbox.Limits().deadline, timeout.milliseconds > 0 else {
            throw ValidationError("--plugin-timeout must be more than 0 and at most 30s")
        }
    }

    var sandbox: PluginSandbox {
        var sandbox = PluginSandbox(policy: pluginSandbox)
        sandbox.limits.deadline = pluginTimeout.duration
        return sandbox
    }

    /// A program that decides for the caller; the user's signal ends it.
    func decisions(by program: PathArgument) throws -> DecisionProgram {
        try DecisionProgram(at: program.path, sandbox: sandbox) { Interruption.isRequested }
    }

    /// The program that decides conflicts; nil if the call names none.
    func resolver(_ merging: MergeArguments) throws -> ConflictResolver? {
        try merging.resolver.map { ConflictResolver(try decisions(by: $0)) }
    }
}

extension PluginSandbox.Policy: @retroactive ExpressibleByArgument {}
