import FaultSupport
import Testing

extension FaultSweep {
    /// Records an issue for every violation, and if too few faults were injected or a kind of call was never made.
    func expectSound(limit: Int, calls: Set<CallKind>) throws {
        let summary = try run(limit: limit)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed > summary.runs / 2)
        #expect(summary.kinds.isSuperset(of: calls))
    }
}
