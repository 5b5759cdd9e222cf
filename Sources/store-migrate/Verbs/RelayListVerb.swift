import ArgumentParser
import ChangeRelay
import StoreMigration

/// `relay list STORE`: the notices in the relay, and how far each consumer has read.
struct RelayListVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Shows the notices in the relay and its consumers; acknowledges nothing."
    )
    static let words = ["relay", "list"]
    static let outcomes = RelayPostVerb.outcomes
    private static let batch = 500

    @OptionGroup var options: RelayOptions

    @Option(help: ArgumentHelp("Only notices after the one with this number.", valueName: "number"))
    var after: Int64 = 0

    @OptionGroup var extent: RelayExtent

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let store = try options.store
        guard let queue = try options.existingQueue(reporter) else {
            reporter.result("\(Escaped.text(store.path)): no notice was ever posted", record: nil)
            return Ending(.done)
        }
        var (place, rest) = (after, extent.limit ?? .max)
        while rest > 0, !reporter.isCancelled() {
            let notices = try queue.notices(after: place, limit: min(Self.batch, rest))
            guard let last = notices.last else { break }
            for notice in notices { reporter.line(reporter.isJSON ? notice.record.text : notice.text) }
            place = last.sequence
            rest -= notices.count
        }
        for (name, position) in try queue.consumers().sorted(by: { $0.key < $1.key }) {
            reporter.result(
                "  consumer \(Escaped.text(name)) has read everything up to #\(position)",
                record: .object([
                    ("type", .string("relayConsumer")), ("name", .string(name)), ("position", .integer(position)),
                ])
            )
        }
        return Ending(reporter.isCancelled() ? .cancelled : .done)
    }
}
