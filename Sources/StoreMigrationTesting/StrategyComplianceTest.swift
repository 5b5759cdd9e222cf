internal import Dispatch
public import StoreStrategies
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Tests that a strategy keeps its contract, in one line of any test framework.
///
/// ```swift
/// try StrategyComplianceTest(MyStrategy()).run()
/// ```
///
/// It tests many stores and every role: without options, with each listed value of every option, and with the options
/// of the example. It also reports everything that a `StrategyPipeline` would refuse. All violations are thrown as one
/// ``StrategyComplianceFailure``.
public struct StrategyComplianceTest {
    private static let askers = 2
    private static let roles = [StoreRole.app, .extension("widget")]

    let strategy: any StoreStrategy
    private let options: [StrategyOptions]

    /// Prepares the test; `options` are further options to test, such as values that cannot be listed.
    public init(_ strategy: any StoreStrategy, options: [StrategyOptions] = []) {
        self.strategy = strategy
        self.options = options
    }

    /// Runs the test, and throws all violations.
    ///
    /// `facts` are the stores to test; the strategy must apply to at least one of them.
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
            failure.add("it applies to no store of the test; pass facts of one that it applies to")
        }
        checkRepetition(answers, &failure)
        checkOrderIndependence(answers, &failure)
        checkDefaults(answers, &failure)
        checkRefusals(facts, &failure)
        if !failure.violations.isEmpty { throw failure }
    }

    // MARK: Requests

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
            failure.add("its example is invalid: \(error)")
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

    /// Sends one request several times; nil when it fails.
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
            failure.add("it does not apply, without a reason, for \(request.role)")
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
            if back.applied(to: request.description) != result { failure.add("its answer has another effect in JSON") }
        } else {
            failure.add("its answer changes when encoded as JSON and decoded")
        }
        var again = request
        again.description = result
        guard let second = try? Answer(strategy, again).changes else {
            return failure.add("it does not apply to its own result, for \(request.role)")
        }
        if second.applied(to: result) != result {
            failure.add("it is not idempotent: it changes its own result, for \(request.role)")
        }
    }

    /// Sends the same request from several threads.
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

    /// Repeats all requests in reverse order, which reveals state in the strategy.
    private func checkRepetition(
        _ answers: [(request: StrategyRequest, answer: Answer)],
        _ failure: inout StrategyComplianceFailure
    ) {
        for (request, answer) in answers.reversed() where (try? Answer(strategy, request)) != answer {
            return failure.add("equal requests get different answers, for \(request.role)")
        }
    }

    /// Compares the answers for one store and role with different results of earlier strategies.
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
                    "its answer depends on earlier strategies, although its documentation denies that"
                )
            }
        }
    }

    /// An option with its default value must change nothing.
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
                    failure.add("the option \(option.name) does not default to \(value)")
                }
            }
        }
    }

    /// Describes each store for every role as a share does, and reports refusals.
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

    // MARK: Refusals

    private func checkRefusals(_ facts: [StoreFacts], _ failure: inout StrategyComplianceFailure) {
        let nonsense = "\u{1}no value of anything"
        for option in strategy.documentation.options where !option.values.isEmpty {
            let asked = Self.requests(facts, [option.name: nonsense])
            let isTaken = asked.contains { request in (try? Answer(strategy, request).changes) != nil }
            if isTaken { failure.add("the option \(option.name) accepts a value that it does not list") }
        }
    }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension StrategyComplianceTest {
    /// Checks that a strategy's documentation is complete and valid.
    func checkDocumentation(_ failure: inout StrategyComplianceFailure) {
        let text = strategy.documentation
        if !StrategyName.isValid(strategy.name) {
            failure.add("its name is too long, or has characters other than letters, digits and hyphens")
        }
        if let objection = text.objection { failure.add(objection) }
        for (what, words) in [("summary", text.summary), ("notApplicable", text.notApplicable)]
        where words.count < 10 || !words.hasSuffix(".") {
            failure.add("its \(what) is not a sentence")
        }
        if text.sets.isEmpty { failure.add("its documentation lists no option that it sets") }
        for option in text.options {
            if let value = option.defaultValue, !option.values.isEmpty, !option.values.contains(value) {
                failure.add("the default of the option \(option.name) is not one of its values")
            }
        }
        if let data = try? JSONEncoder().encode(text),
            (try? JSONDecoder().decode(StrategyDocumentation.self, from: data)) == text
        {
            return
        }
        failure.add("its documentation changes when encoded as JSON and decoded")
    }
}

/// All violations of the contract by a strategy, each once.
public struct StrategyComplianceFailure: Error, Sendable, CustomStringConvertible {
    public let strategy: String
    public private(set) var violations: [String] = []

    init(strategy: String) { self.strategy = strategy }

    mutating func add(_ violation: String) {
        if !violations.contains(violation) { violations.append(violation) }
    }

    public var description: String {
        "\(strategy) violates the contract:" + violations.map { "\n- \($0)" }.joined()
    }
}

/// The answer of a strategy to one request.
struct Answer: Equatable, Sendable {
    let applicability: Applicability?
    /// Nil when it does not apply.
    let changes: DescriptionChanges?

    /// Calls the strategy as a pipeline does.
    init(_ strategy: any StoreStrategy, _ request: StrategyRequest) throws {
        let applicability = try strategy.evaluate(request)
        self.applicability = applicability
        changes = applicability == .applicable ? try strategy.describe(request) : nil
    }
}

/// Several threads at once.
enum Threads {
    /// Runs `body` `count` times, in parallel if there are cores, and waits for all.
    static func run(_ count: Int, _ body: @Sendable () -> Void) {
        DispatchQueue.concurrentPerform(iterations: count) { _ in body() }
    }
}
