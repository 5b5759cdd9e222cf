import ArgumentParser
import ChangeRelay
import Dispatch
import StoreFormat
import StoreMigration

/// `relay watch STORE`: changes as they happen.
struct RelayWatchVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prints each change of the store as it happens, until it is stopped; acknowledges nothing.",
        discussion: "A change of which no notice tells, as by a program that knows no relay, is a line too."
    )
    static let words = ["relay", "watch"]
    static let outcomes = RelayPostVerb.outcomes
    /// How soon a signal is noticed.
    private static let pause = DispatchTimeInterval.milliseconds(200)
    /// How soon it is looked again whether a notice has come, and how long one may take.
    private static let shortPause = DispatchTimeInterval.milliseconds(50)
    private static let timeToPost = Duration.milliseconds(50)

    @OptionGroup var options: RelayOptions

    @Option(help: ArgumentHelp("End after so many lines.", valueName: "count"), transform: RelayExtent.count)
    var limit: Int?

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        _ = try options.inspection(reporter)
        let somethingHappened = DispatchSemaphore(value: 0)
        let notification = try RemoteChangeNotification(beside: options.store.location)
        var version = notification.storeVersion()
        var unexplainedSince: ContinuousClock.Instant?
        let observation = notification.observe { somethingHappened.signal() }
        defer { observation.cancel() }
        var queue = try options.existingQueue(reporter)
        var place = try queue?.end() ?? 0
        if reporter.isVerbose { reporter.surroundings.error.write("watching\n") }
        var rest = limit ?? .max
        while rest > 0 {
            let pause = unexplainedSince == nil ? Self.pause : Self.shortPause
            while somethingHappened.wait(timeout: .now() + pause) == .timedOut {
                if reporter.isCancelled() || !reporter.isWrittenOut { return Ending(.cancelled) }
                if unexplainedSince != nil { break }
            }
            // One look sees all that happened before it.
            while somethingHappened.wait(timeout: .now()) == .success {}
            if queue == nil { queue = try options.existingQueue(reporter) }
            let notices = try queue?.notices(after: place, limit: min(500, rest)) ?? []
            if notices.count == 500 { somethingHappened.signal() }
            // Before anything is printed: what is committed in answer to a line is a change of its own.
            let now = notification.storeVersion() ?? version
            for notice in notices { reporter.line(reporter.isJSON ? notice.record.text : notice.text) }
            place = notices.last?.sequence ?? place
            rest -= notices.count
            guard notices.isEmpty, now != version else {
                (version, unexplainedSince) = (now, nil)
                continue
            }
            // The notice of a commit that was just made may be on its way.
            let since = unexplainedSince ?? .now
            guard since.duration(to: .now) >= Self.timeToPost else {
                unexplainedSince = since
                continue
            }
            (version, unexplainedSince) = (now, nil)
            rest -= 1
            let path = options.store.path
            reporter.result(
                "changed, and no notice tells how: \(Escaped.text(path))",
                record: .object([("type", .string("wake")), ("path", .string(path))])
            )
        }
        return Ending(.done)
    }
}
