import TestSupport

extension CrashSpace {
    /// Up to this many parts, every choice of them is tried; and so many states of the last moment, at least.
    package static let exhaustiveCount = 8

    /// States that differ for whoever reads them, spread evenly over the run; the same for the same seed.
    ///
    /// Where only few parts are pending these are all there are. Elsewhere: all kept, all lost, each operation the only one
    /// lost and the only one kept, and as many random choices as told. Of the moment after the end come `atEnd` first, and
    /// more only after all others. A recovery has no state that is what it began with: that one is no power cut of its own.
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
        // After the end a command has made its promise, so that moment is never left out; where something of it is lost,
        // that shows more than where nothing is.
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
