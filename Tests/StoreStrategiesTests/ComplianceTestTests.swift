import StoreMigrationTesting
import StoreStrategies
import Synchronization
import Testing

@Suite("The compliance test finds what is wrong")
struct ComplianceTestTests {
    /// Answers differently every time.
    private final class Moody: StoreStrategy {
        let name = "Moody"
        let documentation = MadeUpStrategy(sets: [.timeout]) { _ in DescriptionChanges() }.documentation
        private let count = Atomic(0)

        func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

        func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
            let count = count.wrappingAdd(1, ordering: .relaxed).newValue
            return .setting { $0.timeout = Double(count) }
        }
    }

    private func violations(_ strategy: some StoreStrategy) -> String {
        do {
            try StrategyComplianceTest(strategy).run()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("A strategy that keeps the contract passes")
    func good() throws {
        try StrategyComplianceTest(MadeUpStrategy(sets: [.timeout]) { _ in .setting { $0.timeout = 5 } }).run()
    }

    @Test("Answers that depend on when they are asked")
    func moody() { #expect(violations(Moody()).contains("equal requests get different answers")) }

    @Test("Something set that is not documented")
    func undocumented() {
        let strategy = MadeUpStrategy(sets: [.timeout]) { _ in .setting { $0.isReadOnly = true } }
        #expect(violations(strategy).contains("it sets isReadOnly, which it does not document"))
    }

    @Test("Something that no strategy may set")
    func forbidden() {
        let strategy = MadeUpStrategy(sets: [DescriptionOption(rawValue: "url")]) { _ in DescriptionChanges() }
        #expect(violations(strategy).contains("it sets url, which no strategy may set"))
    }

    @Test("An answer that adds up when it is asked for again")
    func growing() {
        let strategy = MadeUpStrategy(sets: [.timeout]) { request in
            .setting { $0.timeout = request.description.timeout + 1 }
        }
        let text = violations(strategy)
        #expect(text.contains("asked about its own result it sets something else"))
        #expect(text.contains("depends on the strategies before it"))
    }

    @Test("A strategy that never applies, without a reason")
    func never() {
        var strategy = MadeUpStrategy(sets: [.timeout]) { _ in DescriptionChanges() }
        strategy.applicability = .notApplicable(reason: "")
        let text = violations(strategy)
        #expect(text.contains("gives no reason"))
        #expect(text.contains("applies to no store of the test"))
    }

    @Test("An option that takes what it does not list, and one that refuses what it lists")
    func options() {
        var strategy = MadeUpStrategy(sets: [.timeout]) { request in
            if request.options["speed"] == "fast" { throw StrategyError(.invalidOption, "fast is no speed") }
            return .setting { $0.timeout = 1 }
        }
        strategy.documentation.options = [
            StrategyDocumentation.Option("speed", "How fast.", values: ["fast", "slow"])
        ]
        let text = violations(strategy)
        #expect(text.contains("it fails for options that it documents"))
        #expect(text.contains("the option speed takes a value that it does not list"))
    }

    @Test("A documentation that says nothing")
    func documentation() {
        var strategy = MadeUpStrategy("Not a name", sets: []) { _ in DescriptionChanges() }
        strategy.documentation.summary = "Hm"
        strategy.documentation.example = "Other:x=1"
        let text = violations(strategy)
        for part in [
            "its name is not made of", "its summary is no sentence", "it says of nothing that it sets it",
            "its example names Other", "its example has an unknown option",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }
}
