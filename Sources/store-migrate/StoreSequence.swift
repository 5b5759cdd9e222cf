import ArgumentParser
import FoundationEssentials
import StoreAccess
import StoreFormat
import StoreMigration

/// One call over all stores that a configuration lists, in their order.
///
/// A store is begun only if every store that it comes after has ended well. The call ends with the worst status.
struct StoreSequence {
    private struct Call {
        let store: ConfiguredStore
        let verb: any ConfiguredVerb
        let words: [String]
    }

    /// The exit statuses from the best to the worst.
    private static let statuses: [Int32] = [0, 3, 10, 11, 4, 13, 12, 14, 2, 1, 6, 5, 130]

    private let calls: [Call]

    /// Throws if any of the calls is not valid: nothing is begun then.
    init(_ stores: [ConfiguredStore], calledWith words: [String]) throws {
        calls = try stores.compactMap { store in
            let words = Launch.naming(store.from.text, in: words)
            do {
                return (try Launch.parsed(words) as? any ConfiguredVerb)
                    .map { Call(store: store, verb: $0, words: words) }
            } catch let failure as Failure {
                throw failure
            } catch {
                throw store.from.origin.refusal(StoreMigrate.message(for: error))
            }
        }
        if calls.count > 1, words.prefix(while: { $0 != "--" }).contains(where: { $0.hasPrefix("--report") }) {
            throw Self.refusal("--report names one page, and the configuration lists several stores")
        }
        let files = calls.compactMap { $0.verb.descriptions?.path }
        guard Set(files).count == files.count else {
            throw Self.refusal("several stores have the same file of descriptions")
        }
        try Self.requireDistinctPlaces(calls)
    }

    /// Throws if two stores have one destination: the programs of one would work on the rows of the other.
    private static func requireDistinctPlaces(_ calls: [Call]) throws {
        var taken: Set<String> = []
        for call in calls {
            guard let place = place(of: call.verb.places), !taken.insert(place).inserted else { continue }
            throw call.store.from.origin.refusal("an earlier store in the list has the same new store")
        }
    }

    /// The path of the new store, through links; nil if none can be formed.
    private static func place(of places: PlacesArguments) -> String? {
        guard var store = places.newLocation else { return nil }
        if places.new?.namesFolder == true || StoreInspector.isFolder(store.path) {
            store = StoreLocation(folder: store.path, name: places.old.location.name)
        }
        return URL(filePath: store.folder).resolvingSymlinksInPath().path + "/" + store.name
    }

    private static func refusal(_ message: String) -> Failure {
        Failure(outcome: .usage, message: message, advice: "Give each store its own, or name one store in the call.")
    }

    /// Performs the calls; returns the status to end with.
    func run(since start: ContinuousClock.Instant) -> Int32 {
        var endings: [Ending] = []
        /// The stores that are not shared, those that were not begun included.
        var left: Set<String> = []
        var last: Reporter?
        for call in calls {
            let reporter = Launch.reporter(of: call.verb, call.words)
            last = reporter
            let begin = ContinuousClock.now
            var ending: Ending?
            if let reason = reason(againstBeginning: call.store, left, reporter) {
                reporter.report(
                    Failure(
                        outcome: .failed,
                        message: "the store was not begun: \(reason)",
                        path: call.verb.places.old.path,
                        advice: "Run the command again."
                    )
                )
            } else {
                let result = Launch.ending(of: call.verb, reporter)
                endings.append(result)
                ending = result
            }
            if ending?.isGood != true { left.insert(call.store.name) }
            reporter.close(store: call.verb.places.old.path, ending, since: begin)
        }
        guard let last, let verb = calls.first?.verb else { return 0 }
        return last.close(type(of: verb).words, Self.whole(endings, of: calls.count), since: start)
    }

    /// Why a store is not begun; nil if it can be.
    private func reason(againstBeginning store: ConfiguredStore, _ left: Set<String>, _ reporter: Reporter) -> String? {
        if reporter.isCancelled() { return "the call was stopped" }
        return store.after.first(where: left.contains).map { "\($0) comes first, and was not shared" }
    }

    /// The ending of the whole call: the worst of its stores.
    static func whole(_ endings: [Ending], of count: Int) -> Ending {
        // Of equal statuses, that of a store that was changed names the outcome, or one that is there.
        func rank(_ ending: Ending) -> (Int, Int) {
            let change = [MigrationOutcome.nothingFound: 0, .alreadyShared: 1][ending.outcome] ?? 2
            return (statuses.firstIndex(of: ending.exitStatus) ?? statuses.count, change)
        }
        guard var whole = endings.max(by: { rank($0) < rank($1) }) else { return Ending(.alreadyShared) }
        whole.findings = endings.map(\.findings).reduce(0, +)
        whole.members = whole.members.filter { $0.0 == "next" } + [("stores", .integer(Int64(count)))]
        return whole
    }
}

extension Ending {
    /// True if the store is shared, with or without findings.
    fileprivate var isGood: Bool {
        [0, MigrationOutcome.findings.exitStatus].contains(exitStatus) && outcome != .nothingFound
    }
}
