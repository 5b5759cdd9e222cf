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
/// the options of the example. What is wrong is thrown as one ``StrategyComplianceFailure``.
public struct StrategyComplianceTest {
    private static let askers = 2

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
        var isEverApplicable = false
        for options in try optionsToAsk(&failure) {
            for request in Self.requests(facts, options) {
                if try check(request, &failure) { isEverApplicable = true }
            }
        }
        if !isEverApplicable {
            failure.add("it applies to no store of the test; hand in facts of one that it applies to")
        }
        checkRefusals(facts, &failure)
        if !failure.violations.isEmpty { throw failure }
    }

    // MARK: What it says about itself

    private func checkDocumentation(_ failure: inout StrategyComplianceFailure) {
        let text = strategy.documentation
        if !Self.isName(strategy.name) { failure.add("its name is not made of letters, digits and hyphens") }
        for (what, words) in [("summary", text.summary), ("notApplicable", text.notApplicable)]
        where words.count < 10 || !words.hasSuffix(".") {
            failure.add("its \(what) is no sentence")
        }
        if text.sets.isEmpty { failure.add("it says of nothing that it sets it") }
        for option in text.sets where !option.isSettable {
            failure.add("it sets \(option), which no strategy may set")
        }
        if Set(text.options.map(\.name)).count != text.options.count { failure.add("two of its options have one name") }
        for option in text.options {
            if !Self.isName(option.name) { failure.add("'\(option.name)' is no name of an option") }
            if option.summary.isEmpty { failure.add("the option \(option.name) has no summary") }
            if let value = option.defaultValue, !option.values.isEmpty, !option.values.contains(value) {
                failure.add("the default of the option \(option.name) is none of its values")
            }
        }
        if let data = try? JSONEncoder().encode(text),
            (try? JSONDecoder().decode(StrategyDocumentation.self, from: data)) == text
        {
            return
        }
        failure.add("its documentation does not survive being written as JSON")
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                $0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
            }
    }

    // MARK: What it answers

    private func optionsToAsk(_ failure: inout StrategyComplianceFailure) throws -> [StrategyOptions] {
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
            if !known.isSuperset(of: example.options.values.keys) { failure.add("its example has an unknown option") }
            result.append(example.options)
        } catch {
            failure.add("its example cannot be read: \(error)")
        }
        return result
    }

    private static func requests(_ facts: [StoreFacts], _ options: StrategyOptions) -> [StrategyRequest] {
        facts.flatMap { facts in
            [StoreRole.app, .extension("widget")]
                .flatMap { role in
                    PersistentStoreDescription.samples.map { description in
                        StrategyRequest(facts: facts, role: role, options: options, description: description)
                    }
                }
        }
    }

    /// Asks one request and returns whether the strategy applied.
    private func check(_ request: StrategyRequest, _ failure: inout StrategyComplianceFailure) throws -> Bool {
        let answer: Answer
        do {
            answer = try Answer(strategy, request)
        } catch {
            failure.add(
                "it fails for options that it documents, \(request.options.values), for \(request.role): \(error)"
            )
            return false
        }
        if try repeated(request).contains(where: { $0 != answer }) {
            failure.add("equal requests get different answers, for \(request.role)")
        }
        if case .notApplicable(let reason)? = answer.applicability, reason.isEmpty {
            failure.add("it does not apply and gives no reason, for \(request.role)")
        }
        guard let changes = answer.changes else { return false }
        let strange = Set(changes.values.keys).subtracting(strategy.documentation.sets)
        for option in strange.sorted() { failure.add("it sets \(option), which it does not document") }
        checkApplication(of: changes, to: request, &failure)
        return true
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
        guard strategy.documentation.isOrderIndependent else { return }
        var plain = request
        plain.description = PersistentStoreDescription(url: request.description.url)
        if (try? Answer(strategy, plain).changes) != changes {
            failure.add("its answer depends on the strategies before it, and its documentation says that it does not")
        }
    }

    /// The same question from several threads, and in the other order.
    private func repeated(_ request: StrategyRequest) throws -> [Answer] {
        let answers = Mutex<[Result<Answer, any Error>]>([])
        let strategy = strategy
        Threads.run(Self.askers) {
            let answer = Result { try Answer(strategy, request) }
            answers.withLock { $0.append(answer) }
        }
        return try answers.withLock { try $0.map { try $0.get() } }
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
