import ArgumentParser
import FoundationEssentials
import StoreFormat
import StoreMigration

/// `container get GROUP`: the folder of a group.
struct ContainerGetVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints the folder of a group's container; it is never created."
    )
    static let words = ["container", "get"]
    static let outcomes: [MigrationOutcome] = [.done, .nothingFound, .foundButUnreadable]

    @Argument(help: "The group's identifier: letters, digits, full stops and hyphens.")
    var group: String

    @Option(help: ArgumentHelp("The folder of all groups, instead of $STORE_MIGRATE_GROUPS.", valueName: "dir"))
    var groups: PathArgument?

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let path = try GroupOptions.container(group, in: groups).url.path
        reporter.result(
            Escaped.text(path),
            record: .object([("type", .string("container")), ("group", .string(group)), ("path", .string(path))])
        )
        return Ending(.done)
    }
}
