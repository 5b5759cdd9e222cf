import ArgumentParser

/// The option that names a configuration file, for the help: its value is taken out before a call is understood.
struct ConfigurationArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A store-migrate.yaml that decides what this call leaves open; also $STORE_MIGRATE_CONFIG.",
            valueName: "file"
        )
    )
    var config: PathArgument?
}
