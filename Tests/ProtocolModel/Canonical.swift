/// The state in its canonical form: states that differ only in transaction IDs or in the order of processes are one.
extension ProtocolState {
    package var canonical: ProtocolState {
        var state = self
        var numbers = [UInt8](repeating: 0, count: Int(Run.past.number) + 1)
        var count: UInt8 = 0
        func name(_ run: Run) {
            guard run != .none, run != .past, numbers[Int(run.number)] == 0 else { return }
            count += 1
            numbers[Int(run.number)] = count
        }
        for place in Place.allCases {
            let journal = journals[place]
            for run in [journal.standing.run, journal.current.run, journal.unshare, journal.merge] { name(run) }
        }
        for process in processes { name(process.run) }
        // A run that nothing names any more only shows that it was there.
        func renamed(_ run: Run) -> Run {
            if run == .none || run == .past { return run }
            let number = numbers[Int(run.number)]
            return number == 0 ? .past : Run(number: number)
        }
        for place in Place.allCases {
            state.stores[place].fence = renamed(stores[place].fence)
            state.stores[place].copy = renamed(stores[place].copy)
            state.stores[place].file = renamed(stores[place].file)
            let mark = renamed(stores[place].mark)
            state.stores[place].mark = mark == .past ? .none : mark
            state.journals[place].standing.run = renamed(journals[place].standing.run)
            state.journals[place].current.run = renamed(journals[place].current.run)
            state.journals[place].unshare = renamed(journals[place].unshare)
            state.journals[place].merge = renamed(journals[place].merge)
            state.receipts[place] = renamed(receipts[place])
            state.staging[place].run = renamed(staging[place].run)
            state.renamed[place].fence = renamed(self.renamed[place].fence)
            state.renamed[place].copy = renamed(self.renamed[place].copy)
            state.renamed[place].file = renamed(self.renamed[place].file)
        }
        for index in processes.indices { state.processes[index].run = renamed(processes[index].run) }
        if state.processes.count > 1 { state.processes.sort { $0.packed < $1.packed } }
        return state
    }

    /// The state as bits, to be stored and compared.
    package var key: StateKey {
        var bits = Bits()
        for place in Place.allCases {
            stores[place].add(to: &bits)
            journals[place].add(to: &bits)
            let (staging, renamed) = (staging[place], renamed[place])
            bits.add(staging.run)
            bits.add(staging.hasMain, staging.isSynced, staging.hasDisplaced)
            bits.add(staging.rows)
            bits.add(staging.displaced)
            bits.add(renamed.isPresent, renamed.isNameUnsynced, renamed.isRemovalUnsynced, renamed.hasArchive)
            bits.add(renamed.rows)
            bits.add(renamed.archived)
            bits.add(renamed.fence)
            bits.add(renamed.copy)
            bits.add(renamed.file)
            bits.add(receipts[place])
        }
        bits.add(kept)
        bits.add(acknowledged)
        bits.add(UInt64(budget.crashes), 4)
        bits.add(UInt64(budget.powerCuts), 2)
        bits.add(UInt64(budget.written), 3)
        bits.add(UInt64(budget.writes), 3)
        for process in processes { bits.add(process.packed, 32) }
        return bits.key
    }
}

/// The bits of a state.
package struct StateKey: Hashable, Sendable {
    fileprivate var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
    private let code: UInt64

    fileprivate init(_ words: [UInt64]) {
        func word(_ index: Int) -> UInt64 { index < words.count ? words[index] : 0 }
        self.words = (word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7), word(8), word(9))
        code = words.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ $1) &* 0x9E37_79B9_7F4A_7C15 ^ ($0 >> 29) }
    }

    package static func == (left: StateKey, right: StateKey) -> Bool {
        let (a, b) = (left.words, right.words)
        return a.0 == b.0 && a.1 == b.1 && a.2 == b.2 && a.3 == b.3 && a.4 == b.4 && a.5 == b.5 && a.6 == b.6
            && a.7 == b.7 && a.8 == b.8 && a.9 == b.9
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// Fields one after the other.
private struct Bits {
    private var words: [UInt64] = []
    private var current: UInt64 = 0
    private var used: UInt64 = 0

    init() { words.reserveCapacity(10) }

    mutating func add(_ value: UInt64, _ width: UInt64) {
        if used + width > 64 {
            words.append(current)
            (current, used) = (0, 0)
        }
        current |= value << used
        used += width
    }

    mutating func add(_ flags: Bool...) { for flag in flags { add(flag ? 1 : 0, 1) } }
    mutating func add(_ rows: Rows) { add(UInt64(rows.rawValue), 5) }
    mutating func add(_ run: Run) { add(UInt64(run.number), 4) }

    var key: StateKey { StateKey(words + [current]) }
}

extension StoreFile {
    fileprivate func add(to bits: inout Bits) {
        bits.add(isPresent, isSealed, isNameUnsynced, isContentUnsynced, isTorn)
        bits.add(rows)
        for run in [fence, copy, file, mark] { bits.add(run) }
        bits.add(source.map { UInt64($0.rawValue) + 1 } ?? 0, 2)
    }
}

extension Journal {
    fileprivate func add(to bits: inout Bits) {
        bits.add(UInt64(phase.rawValue), 2)
        bits.add(unshare)
        bits.add(merge)
        bits.add(hasUnsyncedRecord)
        bits.add(standing.isPresent, standing.isFenced, standing.hasBase, standing.isVoid, standing.isArchived)
        bits.add(standing.isRetiring, standing.isRetired, standing.isRemoved, standing.leavesRows)
        bits.add(standing.run)
        bits.add(UInt64(standing.to.rawValue), 2)
        bits.add(standing.common)
        bits.add(current.fences, current.isInPlace, current.migrates, current.hasStaging, current.hasAside)
        bits.add(current.isPublishing, current.isReplacing, current.isPublished, current.isFenced, current.isProved)
        bits.add(current.isMerging, current.hasBase)
        bits.add(current.run)
        bits.add(UInt64(current.to.rawValue), 2)
        bits.add(current.rows)
        bits.add(current.displaced)
    }
}

extension CommandProcess {
    fileprivate var packed: UInt64 {
        UInt64(command.rawValue) | UInt64(program.rawValue) << 4 | UInt64(step) << 10 | UInt64(run.number) << 15
            | UInt64(home.rawValue) << 19 | UInt64(from.rawValue) << 21 | UInt64(to.rawValue) << 23
            | UInt64(journalLocks) << 25 | UInt64(storeLocks) << 28
    }
}
