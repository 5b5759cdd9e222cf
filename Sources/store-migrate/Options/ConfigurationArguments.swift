import ArgumentParser

/// The option `--config`, declared for the help alone: ``ConfiguredWords`` removes it before arguments are parsed.
struct ConfigurationArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A store-migrate.yaml with defaults for options of this call; also $STORE_MIGRATE_CONFIG.",
            valueName: "file"
        )
    )
    var config: PathArgument?
}
