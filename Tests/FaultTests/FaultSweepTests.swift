import SafeFiles
import Testing

@Suite("The fault sweep itself")
struct FaultSweepTests {
    /// A copy that is written aside, brought to the disk and renamed: sound at every call.
    private static let soundCopy =
        "dd if=\"$1/in\" of=\"$1/out.new\" bs=4096 conv=fsync 2>/dev/null && mv \"$1/out.new\" \"$1/out\""
    /// A copy in place: killed in the middle it leaves half a file.
    private static let unsoundCopy = "dd if=\"$1/in\" of=\"$1/out\" bs=4096 2>/dev/null"
    private static let content = [UInt8](repeating: 7, count: 20_000)

    private func sweep(_ script: String) -> FaultSweep {
        FaultSweep(
            name: "copying",
            command: { Command(executable: "/bin/sh", arguments: ["-c", script, "sh", $0.path]) },
            prepare: { try $0.root.replace("in", with: Self.content, mode: 0o600) },
            afterFault: { scratch, _, ending in
                let isThere = try scratch.root.status(of: "out") != nil
                let isWhole = try isThere && scratch.root.contents(of: "out", limit: 30_000) == Self.content
                var objections: [String] = []
                if isThere && !isWhole { objections.append("half a file") }
                if ending == .exited(0) && !isWhole { objections.append("a false success") }
                return objections
            },
            afterRerun: { scratch, ending in
                let copy = try scratch.root.contents(of: "out", limit: 30_000)
                return ending == .exited(0) && copy == Self.content ? [] : ["not copied"]
            }
        )
    }

    @Test("It finds no fault with a copy that is renamed when it is whole")
    func sound() throws {
        let summary = try sweep(Self.soundCopy).run(limit: 400)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description))")
        #expect(summary.harmed == summary.runs)
        #expect(summary.runs > 20)
        #expect(summary.kinds.isSuperset(of: [.open, .create, .read, .write, .synchronize, .rename, .close]))
    }

    @Test("It finds the calls at which a copy in place leaves half a file")
    func unsound() throws {
        let summary = try sweep(Self.unsoundCopy).run(limit: 400)
        let found = Set(summary.violations.map(\.point.fault))
        #expect(found.isSuperset(of: [.killBefore, .killAfter, .inputOutputError, .noSpace]))
        #expect(summary.violations.contains { $0.objections.contains("half a file") })
    }

    @Test("A sample is as large as asked for, holds every fault, and is the same for the same seed")
    func sampling() {
        let points = FaultSweep.points(of: Array(repeating: .write, count: 500))
        let sample = FaultSweep.sample(of: points, limit: 100, seed: 3)
        #expect((90...110).contains(sample.count))
        #expect(Set(sample.map(\.fault)) == Set(points.map(\.fault)))
        #expect(sample == FaultSweep.sample(of: points, limit: 100, seed: 3))
        #expect(sample != FaultSweep.sample(of: points, limit: 100, seed: 4))
        #expect(FaultSweep.sample(of: points, limit: points.count, seed: 9) == points)
    }

    @Test("The samples of successive seeds make up the whole")
    func coverage() {
        let points = FaultSweep.points(of: Array(repeating: .write, count: 50) + Array(repeating: .read, count: 31))
        let step = (points.count + 19) / 20
        let union = (0..<step).flatMap { FaultSweep.sample(of: points, limit: 20, seed: $0) }
        #expect(Set(union) == Set(points))
    }
}
