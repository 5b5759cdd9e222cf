import FaultSupport
import Testing

extension FaultSweep {
    /// Records an issue for every violation, and if the harms missed their aim: kinds of calls that have to be among them.
    func expectSound(limit: Int, calls: Set<CallKind>) throws {
        let summary = try run(limit: limit)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed > summary.runs / 2)
        #expect(summary.kinds.isSuperset(of: calls))
    }
}
