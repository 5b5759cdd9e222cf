import ArgumentParser
import StoreMigration

/// How a verb gets at a store that others may be using.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("How long to wait for a lock: 250ms, 20s, 2m. (default: 20s)", valueName: "duration"),
        transform: LockTimeout.init(argument:)
    )
    var lockTimeout = LockTimeout(seconds: 20)

    @Flag(name: .customLong("allow-network-fs"), help: "Work on network file systems, whose locks cannot be trusted.")
    var allowsNetworkFileSystem = false
}
