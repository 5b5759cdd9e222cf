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
        var choices = (0...operations.count)
            .map { prefix in
                self.choices(at: prefix, randomChoices, &generator).shuffled(using: &generator)
            }
        var seen: Set<Int> = isRecovery ? [disk(in: CrashState(prefix: 0, lost: [])).fingerprint] : []
        var states: [CrashState] = []
        func take(_ state: CrashState) {
            if seen.insert(disk(in: state).fingerprint).inserted { states.append(state) }
        }
        // States after the end are always included, since the guarantee holds there; those with a loss come first, since
        // they can show more.
        var last = choices.removeLast()
        last = last.filter(\.lost.isEmpty) + last.filter { !$0.lost.isEmpty }
        while states.count < min(limit, atEnd), let state = last.popLast() { take(state) }
        choices.shuffle(using: &generator)
        while states.count < limit, !choices.isEmpty {
            for index in choices.indices where states.count < limit {
                guard let state = choices[index].popLast() else { continue }
                take(state)
            }
            choices.removeAll(where: \.isEmpty)
        }
        while states.count < limit, let state = last.popLast() { take(state) }
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
