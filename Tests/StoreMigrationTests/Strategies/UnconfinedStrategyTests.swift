import StoreFormat
import StoreStrategies
import Testing

@testable import StoreMigration

@Suite("A plugin on a kernel that cannot confine it")
struct UnconfinedStrategyTests {
    private struct Plugin: ConfinedStrategy {
        let name = "Plugin"
        let unconfined: String?
        let documentation = StrategyDocumentation(
            summary: "Is made up for a test.",
            sets: [.timeout],
            example: "Plugin",
            notApplicable: "It applies to every store."
        )

        func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

        func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
            var changes = DescriptionChanges()
            changes.timeout = 9
            return changes
        }
    }

    @Test("A finding says what nothing kept it from", arguments: ["files (Landlock)", nil])
    func finding(_ gap: String?) throws {
        let world = try DescribedWorld()
        let outcome = try world.share([StrategyPipeline.Step(Plugin(unconfined: gap))])
        #expect(outcome.outcome == .shared)
        let told = outcome.findings.filter { $0.code == .strategyNotConfined }
        #expect(told.map(\.message) == (gap.map { ["nothing keeps the plugin Plugin from \($0) here"] } ?? []))
        #expect(told.allSatisfy { $0.severity == .warning })
    }
}
