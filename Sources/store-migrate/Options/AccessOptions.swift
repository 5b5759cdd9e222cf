import ArgumentParser
import ManagedObjects
import StoreFormat
import StoreMigration

/// How a verb opens a store that other processes may be using.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("How long to wait for a lock: 250ms, 20s, 2m. (default: 20s)", valueName: "duration"),
        transform: LockTimeout.init(argument:)
    )
    var lockTimeout = LockTimeout(seconds: 20)

    @Flag(name: .customLong("allow-network-fs"), help: "Work on network file systems, whose locks cannot be trusted.")
    var allowsNetworkFileSystem = false

    /// The store's layout without counts; throws when the path holds something else.
    func layout(
        of location: StoreLocation,
        _ reporter: Reporter,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) throws -> StoreInspection {
        let inspector = StoreInspector(
            depth: .layout,
            lockTimeout: lockTimeout.duration,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            onProgress: onProgress,
            isCancelled: reporter.isCancelled
        )
        return try inspector.inspect(location).requireStore(at: location)
    }

    /// The reader of histories, with these options.
    func historyReader(_ reporter: Reporter) -> HistoryReader {
        HistoryReader(
            lockTimeout: lockTimeout.duration,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            isCancelled: reporter.isCancelled
        )
    }
}
