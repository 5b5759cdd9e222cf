import ArgumentParser
import ChangeRelay
import StoreAccess
import StoreMigration

/// `relay drain STORE --consumer NAME`: the notices that a consumer has not acknowledged.
struct RelayDrainVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Prints the notices that a consumer has not acknowledged, then acknowledges them.",
        discussion: """
            A new consumer name is registered, and gets the notices posted from then on, and before them those imported from \
            preferences that no consumer has acknowledged: the first of several new consumers gets these. Notices that could not \
            be printed stay unacknowledged, and are printed again.
            """
    )
    static let words = ["relay", "drain"]
    static let outcomes = RelayPostVerb.outcomes
    private static let batch = 500

    @OptionGroup var options: RelayOptions

    @Option(help: ArgumentHelp("The consumer; refused while another process uses the name.", valueName: "name"))
    var consumer: String

    @OptionGroup var extent: RelayExtent

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let store = try options.store
        let consumer = try RelayConsumer(consumer, of: options.queue(reporter))
        var findings = 0
        var rest = extent.limit ?? .max
        while rest > 0, !reporter.isCancelled() {
            let batch = try consumer.next(limit: min(Self.batch, rest))
            if batch.isEmpty { break }
            if batch.needsFullRefresh {
                findings += 1
                reporter.report([Self.dropped(store.path)])
            }
            for notice in batch.notices { reporter.line(reporter.isJSON ? notice.record.text : notice.text) }
            guard reporter.isWrittenOut else {
                throw Failure(
                    outcome: .failed,
                    message: "the notices could not be written to standard output, and were not acknowledged",
                    path: store.path,
                    advice: "Check what standard output is connected to, then run the command again."
                )
            }
            try consumer.acknowledge(batch)
            rest -= batch.notices.count
        }
        return Ending(reporter.isCancelled() ? .cancelled : .done, findings: findings)
    }

    private static func dropped(_ path: String) -> Finding {
        Finding(
            .noticesWereDropped,
            .warning,
            level: .coredata,
            "notices were dropped before this consumer read them; fetch all objects again",
            path: path
        )
    }
}

extension Finding.Code {
    /// A consumer did not read for longer than notices are kept.
    fileprivate static let noticesWereDropped = Finding.Code(rawValue: "noticesWereDropped")
}
