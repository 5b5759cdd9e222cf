import StoreMigrationTesting
import StoreStrategies
import Synchronization
import Testing

@Suite("The compliance test for strategies")
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

    @Test("A strategy that fulfils the contract passes")
    func good() throws {
        try StrategyComplianceTest(MadeUpStrategy(sets: [.timeout]) { _ in .setting { $0.timeout = 5 } }).run()
    }

    @Test("Reports answers that differ between equal requests")
    func moody() { #expect(violations(Moody()).contains("equal requests get different answers")) }

    @Test("Reports a setting that is not documented")
    func undocumented() {
        let strategy = MadeUpStrategy(sets: [.timeout]) { _ in .setting { $0.isReadOnly = true } }
        #expect(violations(strategy).contains("it sets isReadOnly, which it does not document"))
    }

    @Test("Reports a setting that no strategy may make")
    func forbidden() {
        let strategy = MadeUpStrategy(sets: [DescriptionOption(rawValue: "url")]) { _ in DescriptionChanges() }
        #expect(violations(strategy).contains("it wants to set url, which no strategy may set"))
    }

    @Test("Reports an answer that grows with each request")
    func growing() {
        let strategy = MadeUpStrategy(sets: [.timeout]) { request in
            .setting { $0.timeout = request.description.timeout + 1 }
        }
        let text = violations(strategy)
        #expect(text.contains("it is not idempotent"))
        #expect(text.contains("depends on earlier strategies"))
    }

    @Test("Reports a strategy that never applies and gives no reason")
    func never() {
        var strategy = MadeUpStrategy(sets: [.timeout]) { _ in DescriptionChanges() }
        strategy.applicability = .notApplicable(reason: "")
        let text = violations(strategy)
        #expect(text.contains("without a reason"))
        #expect(text.contains("applies to no store of the test"))
    }

    @Test("Reports an option that accepts an unlisted value or refuses a listed one")
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
        #expect(text.contains("the option speed accepts a value that it does not list"))
    }

    @Test("Reports an empty or inconsistent documentation")
    func documentation() {
        var strategy = MadeUpStrategy("Not a name", sets: []) { _ in DescriptionChanges() }
        strategy.documentation.summary = "Hm"
        strategy.documentation.example = "Other:x=1"
        let text = violations(strategy)
        for part in [
            "its summary is not a sentence", "lists no option that it sets", "other than letters, digits and hyphens",
            "its example names Other", "its example has an unknown option",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test(
        "Reports every setting that a share would refuse",
        arguments: [
            (
                MadeUpStrategy(sets: [.posixMode]) { _ in .setting { $0.posixMode = 0o666 } },
                "it sets posixMode to 0666"
            ),
            (MadeUpStrategy(sets: [.timeout]) { _ in .setting { $0.timeout = -1 } }, "it sets timeout to -1.0"),
            (
                MadeUpStrategy(sets: [.journalMode]) { _ in .setting { $0.sqlitePragmas["journal_mode"] = "off" } },
                "it sets sqlitePragmas.journal_mode to OFF"
            ),
            (
                MadeUpStrategy(sets: [.journalMode]) { request in
                    .setting { $0.sqlitePragmas["journal_mode"] = request.role == .app ? "wal" : "delete" }
                },
                "a share refuses it: sqlitePragmas.journal_mode is WAL for app"
            ),
            (
                MadeUpStrategy(sets: [.isHistoryTrackingEnabled]) { request in
                    .setting { $0.isHistoryTrackingEnabled = request.role == .app }
                },
                "a share refuses it: isHistoryTrackingEnabled is false for extension(widget)"
            ),
            (
                MadeUpStrategy(sets: [.isHistoryTrackingEnabled]) { _ in .setting { $0.isHistoryTrackingEnabled = true }
                },
                "a share refuses it: isHistoryTrackingEnabled is true for app, and only stores that Core Data made"
            ),
            (
                MadeUpStrategy(sets: [.sqlitePragma("page_size")]) { _ in
                    .setting { $0.sqlitePragmas["page_size"] = "512" }
                },
                "it wants to set sqlitePragmas.page_size, which no strategy may set"
            ),
            (
                MadeUpStrategy(sets: [.posixGroup]) { _ in .setting { $0.posixGroup = "a\u{1B}b" } },
                "it sets posixGroup to 'a?b'"
            ),
        ]
    )
    func refusedByAShare(_ strategy: MadeUpStrategy, _ expected: String) {
        let text = violations(strategy)
        #expect(text.contains(expected), "\(text)")
    }

    /// Answers with the previous request.
    private final class Forgetful: StoreStrategy {
        let name = "Forgetful"
        let documentation = MadeUpStrategy(sets: [.timeout]) { _ in DescriptionChanges() }.documentation
        private let last = Mutex<StoreFacts?>(nil)

        func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

        func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
            let isSame = last.withLock { last in
                defer { last = request.facts }
                return last.map { $0.objectCount <= request.facts.objectCount } ?? true
            }
            return .setting { $0.timeout = isSame ? 1 : 2 }
        }
    }

    @Test("Reports answers that depend on earlier requests")
    func forgetful() { #expect(violations(Forgetful()).contains("equal requests get different answers")) }

    @Test("Reports an answer that depends on an earlier strategy, contrary to its documentation")
    func dependent() {
        var strategy = MadeUpStrategy(sets: [.timeout]) { request in
            .setting { $0.timeout = request.description.journalMode == "DELETE" ? 2 : 1 }
        }
        #expect(violations(strategy).contains("depends on earlier strategies"))
        strategy.documentation.isOrderIndependent = false
        #expect(violations(strategy) == "")
    }

    @Test("Reports applicability that depends on an earlier strategy")
    func dependentApplicability() {
        let strategy = Choosy()
        #expect(violations(strategy).contains("depends on earlier strategies"))
    }

    /// Applies only where no earlier strategy set `isReadOnly`.
    private struct Choosy: StoreStrategy {
        let name = "Choosy"
        let documentation = MadeUpStrategy("Choosy", sets: [.timeout]) { _ in DescriptionChanges() }.documentation

        func evaluate(_ request: StrategyRequest) throws -> Applicability {
            request.description.isReadOnly ? .notApplicable(reason: "it is only read") : .applicable
        }

        func describe(_ request: StrategyRequest) throws -> DescriptionChanges { .setting { $0.timeout = 1 } }
    }

    @Test("Reports a documented default that is not the default")
    func defaults() {
        var strategy = MadeUpStrategy(sets: [.timeout]) { request in
            .setting { $0.timeout = request.options["speed"] == nil ? 1 : 2 }
        }
        strategy.documentation.options = [StrategyDocumentation.Option("speed", "How fast.", defaultValue: "slow")]
        #expect(violations(strategy).contains("the option speed does not default to slow"))
    }

    @Test(
        "Reports a documentation with control characters or excessive length",
        arguments: [
            ("Is \u{1B}[31mred.", "speed"), (String(repeating: "Is long. ", count: 200), "speed"),
            ("Is made up for a test.", "two words"),
        ]
    )
    func unsound(_ summary: String, _ option: String) {
        var strategy = MadeUpStrategy(sets: [.timeout]) { _ in .setting { $0.timeout = 1 } }
        strategy.documentation.summary = summary
        strategy.documentation.options = [StrategyDocumentation.Option(option, "How fast.")]
        let text = violations(strategy)
        #expect(text.contains("no plain text") || text.contains("is no name of an option"), "\(text)")
    }
}
