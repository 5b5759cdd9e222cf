import TestSupport

extension BlockRecord {
    /// The number of writes up to which every subset is tried; also the least number of states after the command's end.
    private static let exhaustiveCount = 6

    /// States with different content, spread evenly over the run; the same for the same seed.
    ///
    /// Between two flushes: every prefix; and right before the later flush all writes lost, each write the only one lost and
    /// the only one kept, random subsets, and writes torn at sector boundaries.
    package func states(limit: Int, seed: Int, randomChoices: Int = 16) -> [BlockState] {
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
        let ends = (beginning..<entries.count).filter { entries[$0] == .flush } + [entries.count]
        var buckets: [[BlockState]] = []
        var start = beginning
        for end in ends {
            let prefixes = (start..<end).map { BlockState(prefix: $0 + 1, lost: []) }
            let bucket = prefixes + choices(at: end, randomChoices, &generator)
            buckets.append(bucket.shuffled(using: &generator))
            start = end
        }
        var seen: Set<String> = []
        var states: [BlockState] = []
        // The state right after the command's success is always included.
        for state in choices(at: end + 1, randomChoices, &generator).shuffled(using: &generator)
        where states.count < min(limit, Self.exhaustiveCount) {
            if seen.insert(mark(of: state)).inserted { states.append(state) }
        }
        buckets.shuffle(using: &generator)
        while states.count < limit, !buckets.isEmpty {
            for index in buckets.indices where states.count < limit {
                guard let state = buckets[index].popLast() else { continue }
                if seen.insert(mark(of: state)).inserted { states.append(state) }
            }
            buckets.removeAll(where: \.isEmpty)
        }
        return states
    }

    /// Equal for states with the same content and the same guarantee.
    private func mark(of state: BlockState) -> String {
        let pending = pending(at: state.prefix)
        let isWhole = state.tear == nil && (state.lost.isEmpty || state.lost.count == pending.count)
        let last = isWhole ? writes(in: state).last?.bytes.lowerBound : nil
        return "\(hadEnded(in: state)) " + (isWhole ? "\(last ?? 0)" : "\(state)")
    }

    private func choices(at prefix: Int, _ count: Int, _ generator: inout SeededGenerator) -> [BlockState] {
        let pending = pending(at: prefix)
        var choices = [BlockState(prefix: prefix, lost: []), BlockState(prefix: prefix, lost: pending)]
        if pending.count <= Self.exhaustiveCount {
            choices += (0..<1 << pending.count)
                .map { mask in
                    let lost = pending.indices.filter { mask >> $0 & 1 == 1 }.map { pending[$0] }
                    return BlockState(prefix: prefix, lost: lost)
                }
        } else {
            for write in pending {
                choices.append(BlockState(prefix: prefix, lost: [write]))
                choices.append(BlockState(prefix: prefix, lost: pending.filter { $0 != write }))
            }
            choices += (0..<count)
                .map { _ in BlockState(prefix: prefix, lost: someLost(of: pending, &generator)) }
        }
        let long = pending.filter { sectors(ofWrite: $0) > 1 }
        for _ in 0..<(long.isEmpty ? 0 : count / 2) {
            guard let torn = long.randomElement(using: &generator) else { break }
            let all = sectors(ofWrite: torn)
            let middle = Int.random(in: 1..<all, using: &generator)
            let lost = Bool.random(using: &generator) ? someLost(of: pending, &generator).filter { $0 != torn } : []
            let arrived = Bool.random(using: &generator) ? 0..<middle : middle..<all
            choices.append(BlockState(prefix: prefix, lost: lost, tear: .init(write: torn, sectors: arrived)))
        }
        return choices
    }

    private func someLost(of pending: [Int], _ generator: inout SeededGenerator) -> [Int] {
        let share = [1, 4, 7].randomElement(using: &generator) ?? 4
        return pending.filter { _ in Int.random(in: 0..<8, using: &generator) < share }
    }
}
