import ArgumentParser
import StoreMigration

/// `backups …`: the archives in a folder.
struct BackupsGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backups",
        abstract: "Lists, checks and prunes the archives in a folder.",
        subcommands: [BackupsListVerb.self, BackupsCheckVerb.self, BackupsPruneVerb.self]
    )
}

/// `container …`: group containers.
struct ContainerGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container",
        abstract: "Finds group containers.",
        subcommands: [ContainerGetVerb.self]
    )
}

/// `fixture …`: stores from recipes.
struct FixtureGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fixture",
        abstract: "Builds stores from recipes.",
        subcommands: [FixtureBuildVerb.self]
    )
}

/// `history …`: a store's persistent history.
struct HistoryGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows or prunes a Core Data store's persistent history.",
        discussion: "The default subcommand is show: store-migrate history STORE --author app --after 100.",
        subcommands: [HistoryShowVerb.self, HistoryPruneVerb.self],
        defaultSubcommand: HistoryShowVerb.self
    )
}

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

/// `strategies …`: how a store is opened.
struct StrategiesGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strategies",
        abstract: "Lists, explains and tries the strategies for share --strategy.",
        subcommands: [StrategiesListVerb.self, StrategiesShowVerb.self, StrategiesRunVerb.self]
    )
}
