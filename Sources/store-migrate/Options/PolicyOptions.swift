import ArgumentParser
import StoreAccess
import StoreMigration

/// What the caller decides about a share.
struct PolicyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            What happens to the old store: fence (writers get an error that names the new path) or capture (it stays writable, \
            and the next share merges what was written). (default: that of the last share, else fence)
            """,
            valueName: "policy"
        )
    )
    var old: ShareOptions.OldStorePolicy?

    @Option(
        help: ArgumentHelp(
            """
            When both stores contain objects: fail, keep-old (OLD's content replaces NEW's, of which a copy is kept), keep-new \
            (NEW stays unchanged, and OLD's rows are only in OLD) or merge (OLD is merged into NEW, object by object).
            """,
            valueName: "policy"
        )
    )
    var onBoth: ShareOptions.BothPlacesPolicy = .fail

    @Option(
        help: ArgumentHelp("How far the proof goes; a level includes those before it.", valueName: "level")
    )
    var level: VerificationLevel = .merging

    @Option(
        help: ArgumentHelp(
            "The model your programs carry (.momd, .mom, .xcdatamodeld); a store of a newer one is refused.",
            valueName: "file"
        )
    )
    var model: PathArgument?

    @Flag(
        help: "Migrate the copy to the model as Core Data's lightweight migration does; --model may be a store with it."
    )
    var migrate = false

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp(
            "The version in the model's folder to migrate to. (default: the current one)",
            valueName: "name"
        )
    )
    var modelVersion: String?

    @Option(help: ArgumentHelp("When there is no store: fail, or ignore and end with status 0.", valueName: "policy"))
    var ifMissing: ShareOptions.MissingPolicy = .fail

    @Option(help: ArgumentHelp("Back the old store up to this folder before anything else.", valueName: "dir"))
    var backup: PathArgument?

    @OptionGroup var merging: MergeArguments
    @OptionGroup var legacy: LegacyOptions

    /// Throws if options of a migration do not fit together.
    func requireMigrationOptions() throws {
        if migrate, model == nil { throw ValidationError("--migrate needs --model, the model to migrate to") }
        if modelVersion != nil, !migrate { throw ValidationError("--version needs --migrate") }
    }

    /// The library's options: these, and those of `run` and `previous`.
    func shareOptions(_ run: RunOptions, _ previous: PreviousArguments) -> ShareOptions {
        var options = run.shareOptions
        options.onSeveral = previous.onSeveral
        options.oldStore = old
        options.onBoth = onBoth
        options.ifMissing = ifMissing
        options.merging = merging.namedSettings
        options.level = level
        options.modelFile = model?.url
        options.migrates = migrate
        options.modelVersion = modelVersion
        options.backupFolder = backup?.url
        options.legacyChanges = legacy.imports
        return options
    }
}
