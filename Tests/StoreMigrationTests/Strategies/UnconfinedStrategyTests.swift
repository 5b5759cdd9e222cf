import StoreAccess
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

    @Test("A warning lists the gaps in a plugin's confinement", arguments: ["files (Landlock)", nil])
    func finding(_ gap: String?) throws {
        let world = try DescribedWorld()
        let outcome = try world.share([StrategyPipeline.Step(Plugin(unconfined: gap))])
        #expect(outcome.outcome == .shared)
        let warnings = outcome.findings.filter { $0.code == .strategyNotConfined }
        #expect(warnings.map(\.message) == (gap.map { ["this kernel cannot keep the plugin Plugin from \($0)"] } ?? []))
        #expect(warnings.allSatisfy { $0.severity == .warning })
    }
}
