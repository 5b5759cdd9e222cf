import SafeFiles

/// Two power cuts, the second during the recovery from the first.
extension CrashSweep {
    /// The number of states of one recovery, limited so that several recoveries are covered.
    private static let perRecovery = 4
    /// How many of them are after its end; the others are during it.
    private static let atEnd = 1

    /// Tries `wanted` pairs, with first states spread evenly; a recovery that changes nothing has none.
    func tryPairs(
        after states: [CrashState],
        of space: CrashSpace,
        _ scratch: Scratch,
        _ wanted: Int,
        _ summary: inout Summary
    ) throws {
        let step = max(1, states.count / max(1, (wanted + Self.perRecovery - 1) / Self.perRecovery))
        for offset in 0..<step {
            for index in stride(from: (step / 2 + offset) % step, to: states.count, by: step) {
                guard summary.pairs < wanted, !deadline.hasPassed, !stopsAtFirst || summary.violations.isEmpty else {
                    return
                }
                let count = min(Self.perRecovery, wanted - summary.pairs)
                try crashAgain(after: states[index], of: space, scratch, count: count, &summary)
            }
        }
    }

    /// Simulates a second power cut during the recovery from the first.
    private func crashAgain(
        after state: CrashState,
        of space: CrashSpace,
        _ scratch: Scratch,
        count: Int,
        _ summary: inout Summary
    ) throws {
        let (recovery, ending) = try recovery(from: state, of: space, scratch)
        for second in recovery.states(limit: count, seed: seed, randomChoices: 8, atEnd: Self.atEnd, isRecovery: true) {
            let isOver = second.prefix == recovery.operations.count
            summary.pairs += 1
            summary.pairsInside += isOver ? 0 : 1
            let objections = examine(
                recovery.disk(in: second),
                scratch,
                elsewhere: second.isElsewhere,
                // A recovery that succeeded gives the command's guarantee.
                hadEnded: isOver && ending == .exited(0),
                isThorough: false
            )
            guard !objections.isEmpty else { continue }
            let steps = space.steps(to: state) + "\n    the power goes; then\n" + recovery.steps(to: second)
            summary.violations.append(
                Violation(command: judge.name, state: "\(state)+\(second)", objections: objections, steps: steps)
            )
        }
    }

    /// The recorded run after a power cut, and its ending.
    func recovery(from state: CrashState, of space: CrashSpace, _ scratch: Scratch) throws -> (
        space: CrashSpace, ending: Command.Ending
    ) {
        let disk = space.disk(in: state)
        let guise = try scratch.materialize(disk, elsewhere: state.isElsewhere)
        return try record(scratch, disk, guise) { _ in [] }
    }
}
