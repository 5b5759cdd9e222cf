import ArgumentParser

/// `fixture …`: stores from recipes.
struct FixtureGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fixture",
        abstract: "Builds stores from recipes.",
        subcommands: [FixtureBuildVerb.self]
    )
}
