import ArgumentParser

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
