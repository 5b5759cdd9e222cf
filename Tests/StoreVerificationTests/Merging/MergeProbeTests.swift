import Foundation
import StoreFixtures
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@testable import StoreVerification

@Suite("The merge probe")
struct MergeProbeTests {
    static let recipes = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/Stores").path

    /// Limits that do not cut the probe short on a slow machine.
    static let patient: MergeProbe.Limits = {
        var limits = MergeProbe.Limits()
        limits.duration = .seconds(600)
        return limits
    }()

    /// A store built from a recipe.
    static func withStore(
        _ recipe: String,
        _ body: (StoreLocation, ScratchFolder) throws -> Void
    ) throws {
        let scratch = try ScratchFolder()
        let location = scratch.location("store.sqlite")
        try RecipeBuilder.build(recipeFile: "\(recipes)/\(recipe)/recipe.yaml", at: location)
        try withExtendedLifetime(scratch) { try body(location, scratch) }
    }

    private func probe(_ location: StoreLocation, _ probe: MergeProbe = MergeProbe(limits: patient)) throws
        -> MergeProbeReport
    {
        let report = try StoreVerifier().verify(location, level: .merging, probe: probe)
        let result = try #require(report.levels.last)
        #expect(result.level == .merging)
        let found = try #require(report.probe)
        #expect((result.status == .passed) == found.findings.isEmpty)
        return found
    }

    @Test(
        "Every operation on every entity arrives at the other role",
        arguments: ["history-on", "many-to-many", "inheritance", "ordered"]
    )
    func arrives(_ recipe: String) throws {
        try Self.withStore(recipe) { location, _ in
            let report = try probe(location)
            #expect(report.findings.isEmpty, "\(report.findings)")
            #expect(!report.coverage.isEmpty)
            for entity in report.coverage {
                #expect(entity.operations == ProbeStep.Operation.allCases, "\(entity)")
                #expect(entity.omitted.isEmpty)
            }
            #expect(!report.isPartial)
            #expect(report.directions == ["extension(extension) to app"])
        }
    }
}
