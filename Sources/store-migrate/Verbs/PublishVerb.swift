import ArgumentParser
import ChangeRelay
import Dispatch
import FoundationEssentials
import StoreAccess
import StoreFormat
import StoreMigration

/// `publish STORE DEST`: a proved snapshot of a private store for programs that only read.
struct PublishVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publishes a snapshot of STORE at DEST for programs that only read; does nothing if nothing changed.",
        discussion: """
            STORE stays private and is only read. The snapshot is read-only and in rollback mode: readers open it with \
            SQLite's immutable=1 and take no lock. It replaces the former snapshot in one step, with its external files; a \
            reader that has the former one open keeps a whole store. Readers are notified, as by relay post. With --watch it \
            publishes again after changes, until it is stopped.
            """
    )
    static let words = ["publish"]
    static let outcomes: [MigrationOutcome] = [
        .published, .alreadyPublished, .done, .findings, .needsDecision, .verificationFailed, .interrupted,
        .nothingFound,
        .busy, .foundButUnreadable, .notWritable, .orphanSidecar, .incompatible, .noSpace,
    ]
    /// How often cancellation is checked.
    private static let pause = DispatchTimeInterval.milliseconds(200)

    @Argument(help: "The private store's main file.")
    var store: PathArgument

    @Argument(help: "The snapshot: a path, or a folder, in which it gets the store's name.")
    var destination: PathArgument?

    @OptionGroup var group: GroupOptions

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Say whether a snapshot is due; write nothing.")
    var isDryRun = false

    @Flag(help: "Publish again after each change of STORE, until stopped.")
    var watch = false

    @Option(
        help: ArgumentHelp("With --watch, the shortest time between snapshots. (default: 5s)", valueName: "duration"),
        transform: LockTimeout.init(argument:)
    )
    var every: LockTimeout?

    @Option(
        help: ArgumentHelp(
            "Publish only objects of these entities and their subentities; may be given several times.",
            valueName: "entity,…"
        )
    )
    var only: [String] = []

    @Option(
        help: ArgumentHelp(
            "Leave out the objects of an entity, or the values of an attribute; may be given several times.",
            valueName: "entity[.attribute],…"
        )
    )
    var without: [String] = []

    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    mutating func validate() throws {
        guard (destination == nil) != (group.group == nil) else {
            throw ValidationError("name the snapshot once: DEST, or --group ID")
        }
        try group.requireComplete(hasOtherStore: true)
        guard every == nil || watch else { throw ValidationError("--every goes with --watch") }
        guard (only + without).allSatisfy({ Self.names($0).allSatisfy { !$0.isEmpty } }) else {
            throw ValidationError("name entities with commas between them")
        }
        guard !watch || !isDryRun else { throw ValidationError("--watch and -n exclude each other") }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        try destination?.requireFolder()
        var options = PublishOptions()
        options.lockTimeout = access.lockTimeout.duration
        options.allowsNetworkFileSystem = access.allowsNetworkFileSystem
        options.selection = SnapshotSelection(
            only: Set(only.flatMap(Self.names)),
            without: Set(without.flatMap(Self.names))
        )
        options.becomesOwner = ToolSurroundings.current.ownsProcess
        let publisher = SnapshotPublisher(
            of: store.url,
            to: try place(),
            options: options,
            logger: reporter.logger,
            onProgress: reporter.onProgress
        )
        if isDryRun {
            let isDue = try publisher.isDue(isCancelled: reporter.isCancelled)
            let path = try place().path(percentEncoded: false)
            reporter.result(
                isDue ? "would publish \(Escaped.path(path))" : "up to date: \(Escaped.path(path))",
                record: .object([("type", .string("publication")), ("path", .string(path)), ("due", .bool(isDue))])
            )
            return Ending(.done)
        }
        return watch ? try follow(publisher, reporter) : try publish(publisher, reporter)
    }

    private static func names(_ list: String) -> [String] {
        list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    private func place() throws -> URL {
        guard let destination else { return try group.url(ofDatabaseLike: store.location) }
        guard StoreInspector.isFolder(destination.path) else { return destination.url }
        return StoreLocation(folder: destination.path, name: store.location.name).url
    }

    private func publish(_ publisher: SnapshotPublisher, _ reporter: Reporter) throws -> Ending {
        let start = ContinuousClock.now
        let outcome = try publisher.publishAndWait(isCancelled: reporter.isCancelled)
        reporter.report(outcome.findings)
        reporter.result(outcome.text(reporter.style, start.duration(to: .now)), record: outcome.record)
        return Ending(outcome.outcome, findings: reporter.isJSON ? outcome.findings.count : 0)
    }

    /// Publishes after each change; what only delays a publication is reported, and tried again with the next pause.
    private func follow(_ publisher: SnapshotPublisher, _ reporter: Reporter) throws -> Ending {
        let shortest = every?.duration ?? .seconds(5)
        let somethingHappened = DispatchSemaphore(value: 0)
        somethingHappened.signal()
        let observation = try RemoteChangeNotification(beside: store.location).observe { somethingHappened.signal() }
        defer { observation.cancel() }
        var next = ContinuousClock.now
        while true {
            while ContinuousClock.now < next || somethingHappened.wait(timeout: .now() + Self.pause) == .timedOut {
                if reporter.isCancelled() || !reporter.isWrittenOut { return Ending(.cancelled) }
                if ContinuousClock.now < next { _ = Self.never.wait(timeout: .now() + Self.pause) }
            }
            while somethingHappened.wait(timeout: .now()) == .success {}
            do {
                _ = try publish(publisher, reporter)
            } catch let error where [.busy, .noSpace].contains(MigrationError(error).outcome) {
                reporter.report(Failure(error))
                somethingHappened.signal()
            }
            next = .now + shortest
        }
    }

    /// It is never signalled: a wait for it is a pause.
    private static let never = DispatchSemaphore(value: 0)
}
