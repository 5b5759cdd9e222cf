import ArgumentParser

/// `strategies …`: how a store is opened.
struct StrategiesGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strategies",
        abstract: "Lists, explains and tries the strategies for share --strategy.",
        subcommands: [StrategiesListVerb.self, StrategiesShowVerb.self, StrategiesRunVerb.self]
    )
}
