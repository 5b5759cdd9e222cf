import Foundation
import SafeFiles
import Synchronization

extension CrashSweep {
    /// A call that flushes something, and the violation that follows without it.
    package struct LostSynchronization: Sendable, CustomStringConvertible {
        /// Its number among the operations.
        package let number: Int
        let operation: RecordedOperation
        /// The number of tried states that the call rules out.
        package let states: Int
        /// The objection to the first state that the judge rejects.
        package let objection: String?

        package var isNoticed: Bool { objection != nil }

        package var description: String {
            let verdict = states == 0 ? "flushes nothing" : objection.map { "noticed: \($0)" } ?? "not noticed"
            return "#\(number) \(operation): \(verdict)"
        }
    }

    /// Ignores every `fsync` of the command, one at a time, and tries states that are possible only without it.
    ///
    /// It proves that the sweep can fail. A call whose loss goes unnoticed is unnecessary, or protects something that the
    /// judge does not check.
    package func withLostSynchronizations(statesEach limit: Int) throws -> [LostSynchronization] {
        let whole = Mutex<[LostSynchronization]>([])
        try Work.concurrently { worker, workers in
            let found = try withLostSynchronizations(statesEach: limit, worker, of: workers)
            whole.withLock { $0 += found }
        }
        return whole.withLock { $0.sorted { $0.number < $1.number } }
    }

    private func withLostSynchronizations(statesEach limit: Int, _ worker: Int, of workers: Int) throws
        -> [LostSynchronization]
    {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let before = try scratch.disk()
        let (sound, _) = try record(scratch, before, Scratch.Guise()) { try judge.afterRerun(scratch, $0) }
        let numbers = sound.operations.indices.filter { sound.operations[$0].isSynchronization }
        var found: [LostSynchronization] = []
        for (index, number) in numbers.enumerated() where index % workers == worker && !deadline.hasPassed {
            let broken = try CrashSpace(before: before, operations: sound.operations, ignoring: [number])
            let all = broken.states(ruledOutIn: sound, after: number)
            let step = max(1, all.count / max(1, limit))
            var tried = 0
            var objection: String?
            // The last state is the worst: everything else depends on the lost parts.
            for state in stride(from: all.count - 1, through: 0, by: -step).prefix(limit).map({ all[$0] })
            where objection == nil {
                tried += 1
                let hadEnded = state.prefix == sound.operations.count
                let disk = broken.disk(in: state)
                objection = examine(disk, scratch, elsewhere: false, hadEnded: hadEnded, isThorough: false).first
            }
            let line = objection.map { String($0.prefix { $0 != "\n" }.prefix(160)) }
            found.append(
                LostSynchronization(
                    number: number,
                    operation: sound.operations[number],
                    states: tried,
                    objection: line
                )
            )
        }
        return found
    }
}

extension CrashSpace {
    /// States after an operation that are possible here and impossible in another space over the same operations.
    fileprivate func states(ruledOutIn other: CrashSpace, after number: Int) -> [CrashState] {
        (number + 1...operations.count)
            .flatMap { prefix -> [CrashState] in
                let lost = Set(pending(at: prefix)).subtracting(other.pending(at: prefix)).sorted()
                guard !lost.isEmpty else { return [] }
                let perOperation = Dictionary(grouping: lost) { parts[$0].operation }.values
                return (perOperation.count > 1 ? perOperation.map { CrashState(prefix: prefix, lost: $0) } : [])
                    + [CrashState(prefix: prefix, lost: lost)]
            }
    }
}
