import ArgumentParser
import StoreMigration

/// `container …`: group containers.
struct ContainerGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container",
        abstract: "Finds group containers.",
        subcommands: [ContainerGetVerb.self]
    )
}
