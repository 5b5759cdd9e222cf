import ArgumentParser

/// The file that ``Configuration`` reads.
struct ConfigurationArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A store-migrate.yaml with defaults for options of this call; also $STORE_MIGRATE_CONFIG.",
            valueName: "file"
        )
    )
    var config: PathArgument?
}
