import FaultSupport
import SafeFiles

/// Shows that the power cuts detect a share with one ignored `fsync`, so that the harness can fail.
struct LostSynchronizations: Proof {
    let name = "lost-syncs"
    let title = "power cuts notice an fsync of a share that does nothing"

    /// The number of calls whose loss must be noticed; the others are covered by a later call, or flush what can be remade.
    private static let gate = 8

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "calls whose loss was noticed", gate: Self.gate)
        let sweep = try CrashSweep(ShareJudge(template: HabitTemplate.makeCoreData(journalMode: "wal")))
        let calls = try sweep.withLostSynchronizations(statesEach: scale.isExhaustive ? 1000 : 3)
        figure.tried = calls.count(where: \.isNoticed)
        figure.remarks = calls.map(\.description)
        return figure
    }
}
