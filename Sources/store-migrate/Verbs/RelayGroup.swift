import ArgumentParser

/// `relay …`: the change notices between the processes that share a store.
struct RelayGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "Posts, shows and drains the change notices of the processes that share a store.",
        subcommands: [
            RelayPostVerb.self, RelayDrainVerb.self, RelayListVerb.self, RelayWatchVerb.self, RelayImportVerb.self,
        ]
    )
}
