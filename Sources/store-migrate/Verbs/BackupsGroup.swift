import ArgumentParser

/// `backups …`: the archives in a folder.
struct BackupsGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backups",
        abstract: "Lists, checks and prunes the archives in a folder.",
        subcommands: [BackupsListVerb.self, BackupsCheckVerb.self, BackupsPruneVerb.self]
    )
}
