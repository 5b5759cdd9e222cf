import ArgumentParser
import ChangeRelay
import Dispatch
import StoreMigration

/// `relay watch STORE`: prints changes as they happen.
struct RelayWatchVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prints each change of the store as it happens, until it is stopped; acknowledges nothing.",
        discussion: "A commit without a notice, as from a program that does not use the relay, is a line too."
    )
    static let words = ["relay", "watch"]
    static let outcomes = RelayPostVerb.outcomes
    /// How often cancellation is checked.
    private static let pause = DispatchTimeInterval.milliseconds(200)
    /// How often to check for the notice of a commit, and how long to wait for it.
    private static let shortPause = DispatchTimeInterval.milliseconds(50)
    private static let timeToPost = Duration.milliseconds(50)

    @OptionGroup var options: RelayOptions

    @Option(help: ArgumentHelp("End after so many lines.", valueName: "count"), transform: RelayExtent.count)
    var limit: Int?

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let store = try options.store
        _ = try options.inspection(reporter)
        let somethingHappened = DispatchSemaphore(value: 0)
        let notification = try RemoteChangeNotification(beside: store.location)
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
            // One read of the queue covers all earlier wake-ups.
            while somethingHappened.wait(timeout: .now()) == .success {}
            if queue == nil { queue = try options.existingQueue(reporter) }
            let notices = try queue?.notices(after: place, limit: min(500, rest)) ?? []
            if notices.count == 500 { somethingHappened.signal() }
            // Read the version before printing: a commit made in reaction to a printed line must count as a new change.
            let now = notification.storeVersion() ?? version
            for notice in notices { reporter.line(reporter.isJSON ? notice.record.text : notice.text) }
            place = notices.last?.sequence ?? place
            rest -= notices.count
            guard notices.isEmpty, now != version else {
                (version, unexplainedSince) = (now, nil)
                continue
            }
            // The notice of a recent commit may still be on its way.
            let since = unexplainedSince ?? .now
            guard since.duration(to: .now) >= Self.timeToPost else {
                unexplainedSince = since
                continue
            }
            (version, unexplainedSince) = (now, nil)
            rest -= 1
            let path = store.path
            reporter.result(
                "changed, without a notice: \(Escaped.text(path))",
                record: .object([("type", .string("wake")), ("path", .string(path))])
            )
        }
        return Ending(.done)
    }
}
