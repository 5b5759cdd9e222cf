import FaultSupport
import SafeFiles

/// Whether the power cuts find out a share of which one `fsync` does nothing: the harness can fail.
struct LostSynchronizations: Proof {
    let name = "lost-syncs"
    let title = "power cuts notice an fsync of a share that does nothing"

    /// So many have to be noticed; the rest is covered by a later one, or keeps only what is made anew.
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
