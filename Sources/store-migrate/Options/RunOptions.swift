import ArgumentParser
import StoreMigration

/// What every verb that works with a run's journal takes.
struct RunOptions: ParsableArguments {
    @OptionGroup var access: AccessOptions

    @Option(help: ArgumentHelp("When a lock is not to be had: wait, defer or fail.", valueName: "policy"))
    var ifBusy: ShareOptions.BusyPolicy = .wait

    @Option(help: ArgumentHelp("The folder of the journal, instead of beside the old store.", valueName: "dir"))
    var state: PathArgument?

    /// How long a lock is waited for under the busy policy.
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
