public import StoreStrategies
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Holds a strategy to what strategies owe, in one line of any test framework.
///
/// ```swift
/// try StrategyComplianceTest(MyStrategy()).run()
/// ```
///
/// It asks about many stores and every role: with no option, with each value of every option that can be listed, and with
/// the options of the example; and it finds whatever a `StrategyPipeline` would refuse. What is wrong is thrown as one
/// ``StrategyComplianceFailure``.
public struct StrategyComplianceTest {
    private static let askers = 2
    private static let roles = [StoreRole.app, .extension("widget")]

    let strategy: any StoreStrategy
    private let options: [StrategyOptions]

    /// Prepares the test; `options` are further options to ask with, such as values that cannot be listed.
    public init(_ strategy: any StoreStrategy, options: [StrategyOptions] = []) {
        self.strategy = strategy
        self.options = options
    }

    /// Asks, and throws everything that does not hold.
    ///
    /// `facts` are the stores to ask about; at least one of them must be such that the strategy applies.
    public func run(on facts: [StoreFacts] = StoreFacts.samples) throws {
        var failure = StrategyComplianceFailure(strategy: strategy.name)
        checkDocumentation(&failure)
        var answers: [(request: StrategyRequest, answer: Answer)] = []
        for options in optionsToAsk(&failure) {
            for request in Self.requests(facts, options) {
                if let answer = check(request, &failure) { answers.append((request, answer)) }
            }
            checkPipeline(facts, options, &failure)
        }
        if !answers.contains(where: { $0.answer.changes != nil }) {
            failure.add("it applies to no store of the test; hand in facts of one that it applies to")
        }
        checkRepetition(answers, &failure)
        checkOrderIndependence(answers, &failure)
        checkDefaults(answers, &failure)
        checkRefusals(facts, &failure)
        if !failure.violations.isEmpty { throw failure }
    }

    // MARK: What to ask

    private func optionsToAsk(_ failure: inout StrategyComplianceFailure) -> [StrategyOptions] {
        var result = [StrategyOptions()] + options
        for option in strategy.documentation.options {
            for value in option.values + [option.defaultValue].compactMap(\.self) {
                result.append(StrategyOptions([option.name: value]))
            }
        }
        do {
            let example = try StrategySelection(strategy.documentation.example)
            if example.name != strategy.name { failure.add("its example names \(example.name)") }
            let known = Set(strategy.documentation.options.map(\.name))
            if known.isSuperset(of: example.options.values.keys) {
                result.append(example.options)
            } else {
                failure.add("its example has an unknown option")
            }
        } catch {
            failure.add("its example cannot be read: \(error)")
        }
        var seen: Set<StrategyOptions> = []
        return result.filter { seen.insert($0).inserted }
    }

    private static func requests(_ facts: [StoreFacts], _ options: StrategyOptions) -> [StrategyRequest] {
        facts.flatMap { facts in
            roles.flatMap { role in
                PersistentStoreDescription.samples.map { description in
                    StrategyRequest(facts: facts, role: role, options: options, description: description)
                }
            }
        }
    }

    // MARK: One answer

    /// Asks one request several times; nil when it has no answer.
    private func check(_ request: StrategyRequest, _ failure: inout StrategyComplianceFailure) -> Answer? {
        let answer: Answer
        do {
            answer = try Answer(strategy, request)
            if try atOnce(request).contains(where: { $0 != answer }) {
                failure.add("equal requests get different answers, for \(request.role)")
            }
        } catch {
            failure.add(
                "it fails for options that it documents, \(request.options.values), for \(request.role): \(error)"
            )
            return nil
        }
        if case .notApplicable(let reason)? = answer.applicability, reason.isEmpty {
            failure.add("it does not apply and gives no reason, for \(request.role)")
        }
        if let changes = answer.changes {
            let strange = Set(changes.values.keys).subtracting(strategy.documentation.sets)
            for option in strange.sorted() { failure.add("it sets \(option), which it does not document") }
            if let objection = changes.objection {
                failure.add("it sets \(objection.option) to \(objection.value); \(objection.reason)")
            }
            checkApplication(of: changes, to: request, &failure)
        }
        return answer
    }

    private func checkApplication(
        of changes: DescriptionChanges,
        to request: StrategyRequest,
        _ failure: inout StrategyComplianceFailure
    ) {
        let result = changes.applied(to: request.description)
        if let data = try? JSONEncoder().encode(changes),
            let back = try? JSONDecoder().decode(DescriptionChanges.self, from: data), back == changes
        {
            if back.applied(to: request.description) != result { failure.add("its answer is another one after JSON") }
        } else {
            failure.add("its answer does not survive being written as JSON")
        }
        var again = request
        again.description = result
        guard let second = try? Answer(strategy, again).changes else {
            return failure.add("it does not apply to its own result, for \(request.role)")
        }
        if second.applied(to: result) != result {
            failure.add("asked about its own result it sets something else, for \(request.role)")
        }
    }

    /// The same question from several threads.
    private func atOnce(_ request: StrategyRequest) throws -> [Answer] {
        let answers = Mutex<[Result<Answer, any Error>]>([])
        let strategy = strategy
        Threads.run(Self.askers) {
            let answer = Result { try Answer(strategy, request) }
            answers.withLock { $0.append(answer) }
        }
        return try answers.withLock { try $0.map { try $0.get() } }
    }

    // MARK: All answers together

    /// Asks everything once more, the last question first: what is remembered shows.
    private func checkRepetition(
        _ answers: [(request: StrategyRequest, answer: Answer)],
        _ failure: inout StrategyComplianceFailure
    ) {
        for (request, answer) in answers.reversed() where (try? Answer(strategy, request)) != answer {
            return failure.add("equal requests get different answers, for \(request.role)")
        }
    }

    /// Compares the answers about one store for one role, whatever the strategies before it said.
    private func checkOrderIndependence(
        _ answers: [(request: StrategyRequest, answer: Answer)],
        _ failure: inout StrategyComplianceFailure
    ) {
        guard strategy.documentation.isOrderIndependent else { return }
        var first: [StrategyRequest: Answer] = [:]
        for (request, answer) in answers {
            var plain = request
            plain.description = PersistentStoreDescription(url: request.description.url)
            if let earlier = first.updateValue(answer, forKey: plain), earlier != answer {
                return failure.add(
                    "its answer depends on the strategies before it, and its documentation says that it does not"
                )
            }
        }
    }

    /// An option with the value that it has anyway must change nothing.
    private func checkDefaults(
        _ answers: [(request: StrategyRequest, answer: Answer)],
        _ failure: inout StrategyComplianceFailure
    ) {
        let byRequest = Dictionary(answers.map { ($0.request, $0.answer) }) { first, _ in first }
        for option in strategy.documentation.options {
            guard let value = option.defaultValue else { continue }
            for (request, answer) in answers where request.options == StrategyOptions([option.name: value]) {
                var plain = request
                plain.options = StrategyOptions()
                if byRequest[plain] != answer {
                    failure.add("the option \(option.name) is not \(value) when it is not given")
                }
            }
        }
    }

    /// Describes each store for every role as a share does, and wants no refusal.
    private func checkPipeline(
        _ facts: [StoreFacts],
        _ options: StrategyOptions,
        _ failure: inout StrategyComplianceFailure
    ) {
        let roles = Self.roles.map { ProgramRole($0) }
        let pipeline = StrategyPipeline([StrategyPipeline.Step(strategy, options: options)], roles: roles)
        for facts in facts {
            do throws(StrategyError) {
                _ = try pipeline.describe(facts, from: .mirrored(facts))
            } catch {
                if error.code != .notApplicable { failure.add("a share refuses it: \(error.message)") }
            }
        }
    }

    // MARK: What it refuses

    private func checkRefusals(_ facts: [StoreFacts], _ failure: inout StrategyComplianceFailure) {
        let nonsense = "\u{1}no value of anything"
        for option in strategy.documentation.options where !option.values.isEmpty {
            let asked = Self.requests(facts, [option.name: nonsense])
            let isTaken = asked.contains { request in (try? Answer(strategy, request).changes) != nil }
            if isTaken { failure.add("the option \(option.name) takes a value that it does not list") }
        }
    }
}
