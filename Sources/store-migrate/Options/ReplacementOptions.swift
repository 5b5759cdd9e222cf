import ArgumentParser
import StoreMigration

/// What a restore may replace.
struct ReplacementOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Replace an existing store: never, always or if-older.", valueName: "policy"))
    var overwrite: RestoreOptions.OverwritePolicy = .never

    @Flag(help: "Replace a store of another UUID or kind.")
    var otherStore = false

    @Flag(help: "Restore a store whose model is not that of the existing store or --model.")
    var otherModel = false

    @Option(
        help: ArgumentHelp(
            "The model your programs carry (.momd, .mom, .xcdatamodeld); a store of a newer one is refused.",
            valueName: "file"
        )
    )
    var model: PathArgument?

    /// The library's options: these, and how to open the store.
    func options(_ access: AccessOptions) -> RestoreOptions {
        var options = RestoreOptions()
        options.overwrite = overwrite
        options.allowsOtherStore = otherStore
        options.allowsOtherModel = otherModel
        options.modelFile = model?.url
        options.lockTimeout = access.lockTimeout.duration
        options.allowsNetworkFileSystem = access.allowsNetworkFileSystem
        options.becomesOwner = Surroundings.current.ownsProcess
        return options
    }
}
