import ArgumentParser
import StoreMigration

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
