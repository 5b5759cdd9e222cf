import ArgumentParser
import StoreFormat
import StoreMigration
import StoreVerification

/// `verify STORE`: proves that a store is sound, or equals another.
struct VerifyVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Proves that a store is sound or equals another; writes nothing.",
        discussion:
            "Each level includes the ones before it. Without --against, content is compared with what share recorded."
    )
    static let words = ["verify"]
    static let outcomes: [MigrationOutcome] = [
        .done, .findings, .nothingFound, .busy, .foundButUnreadable, .orphanSidecar, .incompatible,
    ]

    @Argument(help: "A store's main file, or a backup.")
    var store: PathArgument?

    @OptionGroup var group: GroupOptions

    @Option(help: ArgumentHelp("The store to compare with; raises the level to content.", valueName: "other"))
    var against: PathArgument?

    @Option(help: ArgumentHelp("How far to go: files, sqlite, coredata, content or merging.", valueName: "level"))
    var level: VerificationLevel?

    @Option(
        help: ArgumentHelp(
            "How each role opens the store, as share wrote it; for the level merging.",
            valueName: "file"
        )
    )
    var descriptions: PathArgument?

    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        guard (store == nil) != (group.group == nil) else {
            throw ValidationError("name the store once: STORE, or --group ID --name NAME")
        }
        guard (group.group == nil) == (group.name == nil), group.group != nil || group.groups == nil else {
            throw ValidationError("--group goes with --name, and --groups with both")
        }
    }

    /// The named store: a path, or a database of a group.
    private func place() throws -> PathArgument {
        if let store { return store }
        let url = try group.container().storeURL(databaseName: group.name ?? "")
        guard let path = PathArgument(argument: StoreLocation(url: url).path) else {
            throw ValidationError("name the store")
        }
        return path
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        let store = try place()
        let stores = [store.location] + (against.map { [$0.location] } ?? [])
        return try report.accompany(Self.words, of: stores[0].name, stores, failure: "was not verified", reporter) {
            page in
            try access.withStore(at: store, reporter) { location in
                guard let against else { return try verify(store, at: location, against: nil, page, reporter) }
                return try access.withStore(at: against, reporter) {
                    try verify(store, at: location, against: $0, page, reporter)
                }
            }
        }
    }
}
