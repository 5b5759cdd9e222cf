import ArgumentParser

/// `strategies …`: what says how a store is opened.
struct StrategiesGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strategies",
        abstract: "Lists, explains and tries the strategies that share --strategy takes.",
        subcommands: [StrategiesListVerb.self, StrategiesShowVerb.self, StrategiesRunVerb.self]
    )
}
