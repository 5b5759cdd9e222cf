import TestSupport

extension CrashSpace {
    /// The number of parts up to which every subset is tried; also the least number of states after the end.
    package static let exhaustiveCount = 8

    /// States with different content, spread evenly over the run; the same for the same seed.
    ///
    /// With few pending parts these are all states. Else: all kept, all lost, each operation the only one lost and the only
    /// one kept, and `randomChoices` random subsets. The first states are `atEnd` ones after the end; more of these come last.
    /// A recovery's initial state is left out, since it is not a separate power cut.
    package func states(
        limit: Int,
        seed: Int,
        randomChoices: Int = 24,
        atEnd: Int = exhaustiveCount,
        isRecovery: Bool = false
    ) -> [CrashState] {
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
        var seen: Set<Int> = isRecovery ? [disk(in: CrashState(prefix: 0, lost: [])).fingerprint] : []
        var states: [CrashState] = []
        func take(_ state: CrashState) {
            if seen.insert(disk(in: state).fingerprint).inserted { states.append(state) }
        }
        // States after the end are always included, since the guarantee holds there; those with a loss come first, since
        // they can show more.
        var atTheEnd = StatesOfPrefix(operations.count, randomChoices)
        var last: [CrashState] = []
        while let state = atTheEnd.next(in: self, &generator) { last.append(state) }
        last = last.filter(\.lost.isEmpty) + last.filter { !$0.lost.isEmpty }
        while states.count < min(limit, atEnd), let state = last.popLast() { take(state) }
        // The states of a prefix are chosen when it is reached: the limit is often reached before most prefixes are.
        var others = operations.indices.map { StatesOfPrefix($0, randomChoices) }.shuffled(using: &generator)
        while states.count < limit, !others.isEmpty {
            for index in others.indices where states.count < limit {
                if let state = others[index].next(in: self, &generator) { take(state) }
            }
            others.removeAll(where: \.isEmpty)
        }
        while states.count < limit, let state = last.popLast() { take(state) }
        return states
    }
}

/// The states to try after one number of operations, in random order.
private struct StatesOfPrefix {
    /// Which of the pending parts are lost.
    private enum Loss {
        /// Those whose bits are set.
        case subset(Int)
        case all
        /// Those of one operation.
        case only(Int)
        case allBut(Int)
        case random
    }

    private let prefix: Int
    private let randomChoices: Int
    private var pending: [Int] = []
    /// Nil before the first state.
    private var losses: [Loss]?

    init(_ prefix: Int, _ randomChoices: Int) {
        self.prefix = prefix
        self.randomChoices = randomChoices
    }

    /// True if no state is left.
    var isEmpty: Bool { losses?.isEmpty ?? false }

    /// The next state; nil if no state is left.
    mutating func next(in space: CrashSpace, _ generator: inout SeededGenerator) -> CrashState? {
        if losses == nil {
            pending = space.pending(at: prefix)
            losses = losses(in: space).shuffled(using: &generator)
        }
        guard let loss = losses?.popLast() else { return nil }
        return CrashState(prefix: prefix, lost: lost(loss, in: space, &generator))
    }

    private func losses(in space: CrashSpace) -> [Loss] {
        guard pending.count > CrashSpace.exhaustiveCount else { return (0..<1 << pending.count).map(Loss.subset) }
        let operations = Set(pending.map { space.parts[$0].operation }).sorted()
        return [.subset(0), .all] + operations.flatMap { [.only($0), .allBut($0)] }
            + repeatElement(.random, count: randomChoices)
    }

    private func lost(_ loss: Loss, in space: CrashSpace, _ generator: inout SeededGenerator) -> [Int] {
        switch loss {
        case .subset(let bits): return pending.indices.filter { bits >> $0 & 1 == 1 }.map { pending[$0] }
        case .all: return pending
        case .only(let operation): return pending.filter { space.parts[$0].operation == operation }
        case .allBut(let operation): return pending.filter { space.parts[$0].operation != operation }
        case .random:
            let share = [1, 4, 7].randomElement(using: &generator) ?? 4
            return pending.filter { _ in Int.random(in: 0..<8, using: &generator) < share }
        }
    }
}
