import FaultSupport
import SafeFiles
import Testing

@Suite("The fault sweep itself")
struct FaultSweepTests {
    @Test("The sweep has no violation for a copy that is renamed when complete")
    func sound() throws {
        let summary = try FaultSweep(CopyJudge(script: CopyJudge.sound)).runSample(of: 400)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description))")
        #expect(summary.harmed == summary.runs)
        #expect(summary.runs > 20)
        #expect(summary.kinds.isSuperset(of: [.open, .create, .read, .write, .synchronize, .rename, .close]))
    }

    @Test("The sweep finds the calls at which a copy in place leaves half a file")
    func unsound() throws {
        let summary = try FaultSweep(CopyJudge(script: CopyJudge.unsound)).runSample(of: 400)
        let found = Set(summary.violations.map(\.point.fault))
        #expect(found.isSuperset(of: [.killAfter, .inputOutputError, .noSpace]))
        #expect(summary.violations.contains { $0.objections.contains("half a file") })
    }

    @Test("A sample has the requested size and every fault, and is the same for the same seed")
    func sampling() {
        let points = FaultSweep.points(of: Array(repeating: .write, count: 500))
        let sample = FaultSweep.sample(of: points, limit: 100, seed: 3)
        #expect((90...110).contains(sample.count))
        #expect(Set(sample.map(\.fault)) == Set(points.map(\.fault)))
        #expect(sample == FaultSweep.sample(of: points, limit: 100, seed: 3))
        #expect(sample != FaultSweep.sample(of: points, limit: 100, seed: 4))
        #expect(FaultSweep.sample(of: points, limit: points.count, seed: 9) == points)
    }

    @Test("One point of each fault can be drawn, and another seed draws others")
    func oneOfEach() {
        let points = FaultSweep.points(of: Array(repeating: .write, count: 50) + [.lock])
        #expect(FaultSweep.oneOfEach(points, seed: 3).map(\.fault) == Fault.all)
        #expect(Set(FaultSweep.oneOfEach(points, seed: 3)).isDisjoint(with: FaultSweep.oneOfEach(points, seed: 4)))
    }

    @Test("A kill before a call is left out where a kill after the last change does the same")
    func distinct() {
        let points = FaultSweep.points(of: [.read, .write, .read, .write, .write])
        let left = Set(points).subtracting(FaultSweep.distinct(points))
        #expect(left.map(\.number).sorted() == [3, 4])
        #expect(left.allSatisfy { $0.fault == .killBefore })
    }

    @Test("The samples of successive seeds cover all points")
    func coverage() {
        let points = FaultSweep.points(of: Array(repeating: .write, count: 50) + Array(repeating: .read, count: 31))
        let step = (points.count + 19) / 20
        let union = (0..<step).flatMap { FaultSweep.sample(of: points, limit: 20, seed: $0) }
        #expect(Set(union) == Set(points))
    }
}
