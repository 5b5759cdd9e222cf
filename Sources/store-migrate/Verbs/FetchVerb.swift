import ArgumentParser
import ManagedObjects
import StoreAccess
import StoreMigration

/// `fetch STORE ENTITY`: the objects of a Core Data store.
struct FetchVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Shows the objects of an entity in a Core Data store; writes nothing.",
        discussion: """
            A predicate is written as for NSPredicate: "name BEGINSWITH[cd] 'a' AND ANY days.wasExecuted == YES". A date is \
            written as '2026-01-31' or '2026-01-31T12:00:00Z'.
            """
    )
    static let words = ["fetch"]
    static let outcomes: [MigrationOutcome] = [
        .done, .nothingFound, .busy, .foundButUnreadable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @Argument(help: "A store's main file, or a backup; left out with --group.")
    var store: PathArgument?

    @Argument(help: "The name of an entity.")
    var entity: String?

    @OptionGroup var group: GroupOptions
    @OptionGroup var options: FetchOptions
    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        try group.requireComplete(hasOtherStore: false)
        // With a group, the only argument is the entity.
        guard store != nil, (group.group == nil) == (entity != nil) else {
            throw ValidationError("name the store once, STORE or --group ID --name NAME, and then ENTITY")
        }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        guard let first = store else { throw ValidationError("name the store and the entity") }
        let store = try entity == nil ? group.path() : first
        return try access.withStore(at: store, reporter) { try show(entity ?? first.text, in: $0, reporter) }
    }

    private func show(_ entity: String, in location: StoreLocation, _ reporter: Reporter) throws -> Ending {
        _ = try access.layout(of: location, reporter)
        let reader = ObjectReader(
            lockTimeout: access.lockTimeout.duration,
            allowsNetworkFileSystem: access.allowsNetworkFileSystem,
            isCancelled: reporter.isCancelled
        )
        var table = ObjectTable()
        try reader.forEachObject(
            options.request(for: entity),
            in: location,
            describedBy: { reporter.isJSON ? $0.record.text : ObjectTable.row($0) },
            { text in
                for line in reporter.isJSON ? [text] : table.lines(adding: text) { reporter.line(line) }
            }
        )
        for line in table.remainingLines() { reporter.line(line) }
        return Ending(.done)
    }
}
