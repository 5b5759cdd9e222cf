import Foundation
package import SafeFiles
import Synchronization
import TestSupport

/// Runs a command, simulates a power cut at every point of it, and has the judge check the disk.
package struct CrashSweep: Sendable {
    /// One state that the judge objects to.
    package struct Violation: Sendable, CustomStringConvertible {
        let command: String
        package let state: String
        package let objections: [String]
        let steps: String

        package var description: String {
            "STORE_MIGRATE_CRASH_STATE='\(command)/\(state)': \(objections.joined(separator: "; "))\n\(steps)"
        }
    }

    /// The figures and violations of a sweep.
    package struct Summary: Sendable {
        /// The number of recorded operations.
        package var operations = 0
        package var states = 0
        /// States of a recovery from a state.
        package var pairs = 0
        /// The pairs of which the second power cut is during the recovery, not after its end.
        package var pairsInside = 0
        package var violations: [Violation] = []
        package var duration: Duration = .zero
    }

    package let judge: any Judge
    /// An `fsync` to ignore, by its number among the operations that flush.
    package var brokenSynchronization: Int?
    package var seed = Seed.forFaults
    /// The time after which no further state begins.
    package var deadline = Deadline(after: .seconds(3600))
    /// Ends with the first violation.
    package var stopsAtFirst = false
    /// The only state to try: the name of a command, a slash, and the state that a violation printed.
    package var onlyState: Substring? = ProcessInfo.processInfo.environment["STORE_MIGRATE_CRASH_STATE"]?[...]
    /// One state in so many gets an additional run after its recovery.
    private static let thoroughness = 4
    private var timeLimit: Duration { .seconds(300) }

    package init(_ judge: any Judge) { self.judge = judge }

    /// Tries `limit` states, and `pairs` states of recoveries from some of them.
    ///
    /// Every worker has its own scratch folder and record, because the paths and inode numbers that a command writes are valid
    /// in that folder only.
    package func run(limit: Int, pairs: Int = 0) throws -> Summary {
        if let onlyState, !onlyState.hasPrefix(judge.name + "/") { return Summary() }
        let start = ContinuousClock.now
        let whole = Mutex(Summary())
        try Work.concurrently(workers: onlyState == nil ? nil : 1) { worker, workers in
            let part = try runAlone(worker, of: workers, limit: limit, pairs: pairs)
            whole.withLock { whole in
                whole.operations = max(whole.operations, part.operations)
                whole.states += part.states
                whole.pairs += part.pairs
                whole.pairsInside += part.pairsInside
                whole.violations += part.violations
            }
        }
        var summary = whole.withLock { $0 }
        summary.duration = ContinuousClock.now - start
        let rate = Double(summary.states + summary.pairs) / max(0.001, summary.duration / .seconds(1))
        print(
            "\(judge.name): \(summary.operations) operations, \(summary.states) states,",
            "\(summary.pairs) pairs (\(summary.pairsInside) inside the recovery),",
            "\(Int(rate)) a second (seed \(seed)), \(summary.violations.count) violations"
        )
        return summary
    }

    private func runAlone(_ worker: Int, of workers: Int, limit: Int, pairs: Int) throws -> Summary {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let before = try scratch.disk()
        let (space, _) = try record(scratch, before, Scratch.Guise()) { ending in
            try judge.afterRerun(scratch, ending)
        }
        var summary = Summary(operations: space.operations.count)
        let share = limit / workers + (worker < limit % workers ? 1 : 0)
        // Every worker takes different states; there may be fewer than the limit.
        let states = space.states(limit: share &* workers, seed: seed).enumerated()
            .filter { $0.offset % workers == worker }.map(\.element)
        if let onlyState {
            try tryAgain(onlyState, of: space, scratch, &summary)
            return summary
        }
        // A quarter of the time is reserved for the pairs.
        let end = pairs > 0 ? Deadline(after: deadline.remaining * 3 / 4) : deadline
        for (number, state) in states.enumerated() {
            guard !end.hasPassed, !stopsAtFirst || summary.violations.isEmpty else { break }
            summary.states += 1
            let isThorough = number.isMultiple(of: Self.thoroughness)
            let objections = examine(
                space.disk(in: state),
                scratch,
                elsewhere: state.isElsewhere,
                hadEnded: state.prefix == space.operations.count,
                isThorough: isThorough
            )
            guard !objections.isEmpty else { continue }
            summary.violations.append(
                Violation(command: judge.name, state: "\(state)", objections: objections, steps: space.steps(to: state))
            )
        }
        let wanted = pairs / workers + (worker < pairs % workers ? 1 : 0)
        try tryPairs(after: states, of: space, scratch, wanted, &summary)
        return summary
    }

    private func tryAgain(_ text: Substring, of space: CrashSpace, _ scratch: Scratch, _ summary: inout Summary) throws
    {
        let text = text.dropFirst(judge.name.count + 1)
        let states = text.split(separator: "+").map { CrashState(String($0)) }
        guard let first = states.first, let state = first, states.count <= 2 else { return }
        var disk = space.disk(in: state)
        var steps = space.steps(to: state)
        var hadEnded = states.count == 1 && state.prefix == space.operations.count
        if states.count == 2, let second = states[1] {
            let (recovery, ending) = try recovery(from: state, of: space, scratch)
            disk = recovery.disk(in: second)
            hadEnded = ending == .exited(0) && second.prefix == recovery.operations.count
            steps += "\n    the power goes; then\n" + recovery.steps(to: second)
        }
        summary.states = 1
        print(steps)
        let isElsewhere = (states.last ?? state)?.isElsewhere ?? false
        let objections = examine(disk, scratch, elsewhere: isElsewhere, hadEnded: hadEnded)
        guard !objections.isEmpty else { return }
        summary.violations.append(
            Violation(command: judge.name, state: String(text), objections: objections, steps: steps)
        )
    }

    /// Records the changes of the command, and verifies the record.
    func record(
        _ scratch: Scratch,
        _ before: SimulatedDisk,
        _ guise: Scratch.Guise,
        _ judgement: (Command.Ending) throws -> [String]
    ) throws -> (space: CrashSpace, ending: Command.Ending) {
        let ending = try scratch.run(
            judge.command(scratch),
            in: guise,
            records: true,
            deadline: Deadline(after: timeLimit)
        )
        var objections = try judgement(ending)
        let operations = try scratch.recordedOperations()
        let differences = try CrashSpace(before: before, operations: operations).end
            .differences(from: scratch.disk(in: guise))
        objections += differences.map { "the record is wrong about \($0)" }
        guard objections.isEmpty else {
            throw UnharmedRunFailure(name: judge.name, objections: objections, output: scratch.output)
        }
        var ignored: Set<Int> = []
        if let brokenSynchronization {
            let synchronizations = operations.indices.filter { operations[$0].isSynchronization }
            if synchronizations.indices.contains(brokenSynchronization) {
                ignored = [synchronizations[brokenSynchronization]]
            }
        }
        return (try CrashSpace(before: before, operations: operations, ignoring: ignored), ending)
    }

    /// Judges a state, runs the command again and judges that, and for some states runs it once more; `elsewhere`, the disk
    /// has another device number.
    func examine(
        _ disk: SimulatedDisk,
        _ scratch: Scratch,
        elsewhere: Bool,
        hadEnded: Bool = false,
        isThorough: Bool = true
    ) -> [String] {
        do {
            return try judge.objections(
                afterCrashIn: scratch,
                scratch.materialize(disk, elsewhere: elsewhere),
                hadEnded: hadEnded,
                isThorough: isThorough,
                timeLimit: timeLimit
            )
        } catch {
            return ["the judge failed: \(error)"]
        }
    }
}
