import ArgumentParser
import ChangeRelay
import FoundationEssentials
import StoreAccess
import StoreFormat
import StoreMigration

/// `relay post STORE`: posts a notice for a program that writes to the store without this library.
struct RelayPostVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "post",
        abstract: "Notifies every other process of the changed objects of a store, and wakes it.",
        discussion: """
            For changes that another program has already written; the store is not changed. An object is named by its URI, \
            x-coredata://UUID/Entity/p1.
            """
    )
    static let words = ["relay", "post"]
    static let outcomes: [MigrationOutcome] = [
        .done, .nothingFound, .busy, .foundButUnreadable, .notWritable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @OptionGroup var options: RelayOptions

    @Option(help: ArgumentHelp("A new object; may be repeated.", valueName: "uri"))
    var inserted: [String] = []

    @Option(help: ArgumentHelp("A changed object; may be repeated.", valueName: "uri"))
    var updated: [String] = []

    @Option(help: ArgumentHelp("A deleted object; may be repeated.", valueName: "uri"))
    var deleted: [String] = []

    @Flag(help: "Any object may have changed.")
    var everything = false

    @Option(help: ArgumentHelp("The author of the change.", valueName: "name"))
    var author: String?

    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        let names = inserted + updated + deleted
        guard everything || !names.isEmpty else {
            throw ValidationError("name the objects that changed, or use --everything")
        }
        for name in names { _ = try Self.object(name) }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        let store = try options.store
        let uuid = try options.inspection(reporter).metadata?.uuid
        var sets: [ChangeNotice.Change: [ObjectURI]] = [:]
        for (change, names) in [(ChangeNotice.Change.inserted, inserted), (.updated, updated), (.deleted, deleted)]
        where !names.isEmpty {
            sets[change] = try names.map(Self.object)
        }
        if let uuid, let foreign = sets.values.joined().first(where: { $0.storeUUID != uuid }) {
            throw Failure(
                outcome: .usage,
                message: "\(foreign) is an object of another store",
                path: store.path,
                advice: "Objects of this store begin with x-coredata://\(uuid)/."
            )
        }
        let notice = ChangeNotice(
            key: .init(writer: "relay post " + UUID().uuidString, number: 1),
            author: author,
            content: everything ? .everything : .objects(sets)
        )
        let queue = try options.queue(reporter)
        let sequence = try queue.post(notice)
        try RemoteChangeNotification(beside: store.location).post()
        if let posted = try queue.notices(after: sequence - 1, limit: 1).first {
            reporter.result("Posted " + posted.text, record: posted.record)
        }
        return Ending(.done)
    }

    private static func object(_ text: String) throws -> ObjectURI {
        do { return try ObjectURI(text) } catch { throw ValidationError("'\(text)': \(error.message)") }
    }
}
