import ArgumentParser
import StoreFormat
import StoreMigration

/// What the caller decides about a share.
struct PolicyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What happens to the old store: fence or capture.", valueName: "policy"))
    var old: ShareOptions.OldStorePolicy = .fence

    @Option(
        help: ArgumentHelp("When both stores contain objects: fail, keep-old, keep-new or merge.", valueName: "policy")
    )
    var onBoth: ShareOptions.BothPlacesPolicy = .fail

    @Option(
        help: ArgumentHelp("How far the proof goes: files, sqlite, coredata, content or merging.", valueName: "level")
    )
    var level: VerificationLevel = .merging

    @Option(
        help: ArgumentHelp(
            "The model your programs carry (.momd, .mom, .xcdatamodeld); a store of a newer one is refused.",
            valueName: "file"
        )
    )
    var model: PathArgument?

    @Option(help: ArgumentHelp("When there is no store: fail, or ignore and end with status 0.", valueName: "policy"))
    var ifMissing: MissingPolicy = .fail

    @Option(help: ArgumentHelp("Back the old store up to this folder before anything else.", valueName: "dir"))
    var backup: PathArgument?

    @OptionGroup var merging: MergeArguments
    @OptionGroup var legacy: LegacyOptions

    /// The library's options: these, and those of `run`.
    func shareOptions(_ run: RunOptions) -> ShareOptions {
        var options = run.shareOptions
        options.oldStore = old
        options.onBoth = onBoth
        options.merging = merging.settings
        options.level = level
        options.modelFile = model?.url
        options.backupFolder = backup?.url
        options.legacyChanges = legacy.imports
        return options
    }
}
