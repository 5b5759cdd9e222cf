import ArgumentParser
import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreBackup
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

extension AccessOptions {
    /// Calls `body` with the store at a path; the store of an archive is unpacked into a scratch folder for the call.
    func withStore<Result>(
        at path: PathArgument,
        _ reporter: Reporter,
        _ body: (StoreLocation) throws -> Result
    ) throws -> Result {
        guard BackupArchive.isArchive(at: path.url) else { return try body(path.location) }
        return try BackupArchive(at: path.url, onProgress: reporter.onProgress, isCancelled: reporter.isCancelled)
            .withStore { store, _ in try body(store) }
    }
}

/// The options of every verb that uses a run's journal.
struct RunOptions: ParsableArguments {
    @OptionGroup var access: AccessOptions

    @Option(
        help: ArgumentHelp(
            "When another process holds a lock: wait up to --lock-timeout, or end at once with status 11 (defer, fail).",
            valueName: "policy"
        )
    )
    var ifBusy: ShareOptions.BusyPolicy = .wait

    @Option(help: ArgumentHelp("The folder of the journal, instead of beside the old store.", valueName: "dir"))
    var state: PathArgument?

    /// How long to wait for a lock under the busy policy.
    var patience: Duration { ifBusy == .wait ? access.lockTimeout.duration : .zero }

    /// The library's options, with everything else at its default.
    var shareOptions: ShareOptions {
        var options = ShareOptions()
        options.lockTimeout = access.lockTimeout.duration
        options.allowsNetworkFileSystem = access.allowsNetworkFileSystem
        options.ifBusy = ifBusy
        options.stateFolder = state?.url
        return options
    }
}
