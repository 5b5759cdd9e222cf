import Foundation
import StoreAccess
import StoreFixtures
import StoreStrategies
import StoreVerification
import TestSupport
import Testing

@testable import MergeProbing

@Suite("The merge probe")
struct MergeProbeTests {
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
        try RecipeBuilder.build(recipeFile: Fixtures.recipe(ofStore: recipe), at: location)
        try withExtendedLifetime(scratch) { try body(location, scratch) }
    }

    private func probe(_ location: StoreLocation, _ probe: MergeProbe = MergeProbe(limits: patient)) throws
        -> MergeProbeReport
    {
        let report = try StoreVerifier().verify(location, level: .merging, proof: probe.proof)
        let result = try #require(report.levels.last)
        #expect(result.level == .merging)
        let found = try #require(report.probe)
        #expect((result.status == .passed) == found.findings.isEmpty)
        return found
    }

    @Test(
        "Every operation on every entity arrives at the other role, in both directions",
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
            #expect(report.pairs == ["extension(extension) to app", "app to extension(extension)"])
            for direction in report.directions {
                #expect(direction.operations == ProbeStep.Operation.allCases, "\(direction)")
                #expect(direction.writer == "a second coordinator")
            }
        }
    }

    @Test("Every role that writes does so for each other role, extensions among themselves included")
    func everyPair() throws {
        try Self.withStore("history-on") { location, _ in
            var description = PersistentStoreDescription(url: location.url)
            description.isHistoryTrackingEnabled = true
            var reader = description
            reader.isReadOnly = true
            let report = try probe(
                location,
                MergeProbe(
                    descriptions: [
                        .app: description, .extension("clock"): reader, .extension("share"): description,
                        .extension("widget"): description,
                    ],
                    limits: Self.patient
                )
            )
            #expect(report.findings.isEmpty, "\(report.findings)")
            #expect(
                report.pairs == [
                    "extension(share) to app", "extension(widget) to app", "app to extension(clock)",
                    "app to extension(share)", "app to extension(widget)", "extension(share) to extension(clock)",
                    "extension(share) to extension(widget)", "extension(widget) to extension(clock)",
                    "extension(widget) to extension(share)",
                ]
            )
            // What an earlier direction deleted must not be missing in a later one.
            for direction in report.directions {
                #expect(direction.operations == ProbeStep.Operation.allCases, "\(direction)")
            }
        }
    }
}

extension MergeProbeReport {
    /// The directions without their writers.
    var pairs: [String] { directions.map { "\($0.from) to \($0.to)" } }
}
