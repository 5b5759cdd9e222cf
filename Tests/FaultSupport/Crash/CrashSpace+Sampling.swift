import TestSupport

extension CrashSpace {
    /// Up to this many parts, every choice of them is tried; and so many states of the last moment, at least.
    private static let exhaustiveCount = 8

    /// States that differ for whoever reads them, spread evenly over the run; the same for the same seed.
    ///
    /// Where only few parts are pending these are all there are. Elsewhere: all kept, all lost, each operation the only one
    /// lost and the only one kept, and as many random choices as told.
    package func states(limit: Int, seed: Int, randomChoices: Int = 24) -> [CrashState] {
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
        var choices = (0...operations.count)
            .map { prefix in
                self.choices(at: prefix, randomChoices, &generator).shuffled(using: &generator)
            }
        var seen: Set<Int> = []
        var states: [CrashState] = []
        // After the end a command has made its promise, so that moment is never left out.
        for state in choices.removeLast().suffix(Self.exhaustiveCount) where states.count < limit {
            if seen.insert(disk(in: state).fingerprint).inserted { states.append(state) }
        }
        choices.shuffle(using: &generator)
        while states.count < limit, !choices.isEmpty {
            for index in choices.indices where states.count < limit {
                guard let state = choices[index].popLast() else { continue }
                if seen.insert(disk(in: state).fingerprint).inserted { states.append(state) }
            }
            choices.removeAll(where: \.isEmpty)
        }
        return states
    }

    private func choices(at prefix: Int, _ count: Int, _ generator: inout SeededGenerator) -> [CrashState] {
        let pending = pending(at: prefix)
        guard pending.count > Self.exhaustiveCount else {
            return (0..<1 << pending.count)
                .map { mask in
                    CrashState(prefix: prefix, lost: pending.indices.filter { mask >> $0 & 1 == 1 }.map { pending[$0] })
                }
        }
        var choices = [CrashState(prefix: prefix, lost: []), CrashState(prefix: prefix, lost: pending)]
        for ofOne in Dictionary(grouping: pending, by: { parts[$0].operation }).sorted(by: { $0.key < $1.key }) {
            choices.append(CrashState(prefix: prefix, lost: ofOne.value))
            choices.append(CrashState(prefix: prefix, lost: pending.filter { !ofOne.value.contains($0) }))
        }
        for _ in 0..<count {
            let share = [1, 4, 7].randomElement(using: &generator) ?? 4
            let lost = pending.filter { _ in Int.random(in: 0..<8, using: &generator) < share }
            choices.append(CrashState(prefix: prefix, lost: lost))
        }
        return choices
    }
}
