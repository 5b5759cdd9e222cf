import ArgumentParser

/// The root of the command line, which lists the verbs.
struct StoreMigrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store-migrate",
        abstract: "Moves a private Core Data or SQLite store into a shared group container, and proves the result.",
        subcommands: [
            ShareVerb.self, PlanVerb.self, StatusVerb.self, ResumeVerb.self, AbortVerb.self, RetireVerb.self,
            UnshareVerb.self, MergeVerb.self, UnmergeVerb.self, DiffVerb.self, InspectVerb.self, FetchVerb.self,
            VerifyVerb.self, HistoryGroup.self, RelayGroup.self, BackupVerb.self, RestoreVerb.self, BackupsGroup.self,
            MigrateVerb.self, PublishVerb.self, CleanVerb.self,
            DoctorVerb.self, ContainerGroup.self, StrategiesGroup.self, RehearseVerb.self, FixtureGroup.self,
            ProbeWriterCommand.self, RehearsedRunCommand.self, RehearsedProcessCommand.self,
        ]
    )

    // The parser's own flag would exist in every verb, beside the option --version NAME of some.
    @Flag(name: .customLong("version"), help: "Show the version.")
    var showsVersion = false

    func run() throws {
        guard showsVersion else { throw CleanExit.helpRequest(self) }
        ToolSurroundings.current.output.write(Versions.text + "\n")
    }
}
