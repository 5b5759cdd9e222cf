/// Follows the journals that a run of the tool left through the model.
///
/// The search goes through every state of the model that agrees with the records so far; a command may have been killed,
/// and a power cut or an app may have acted, between any two of them.
package struct TraceReplay: Sendable {
    /// A record as a journal has it.
    package struct Entry: Hashable, Sendable, CustomStringConvertible {
        package let record: Record
        /// For the beginning of a run: whether it fences, and whether it replaces the store at its own place.
        package var fences = false
        package var isInPlace = false
        package init(_ record: Record) { self.record = record }

        package var description: String { record.rawValue }
    }

    /// The journals and the files of a pair.
    package struct Trace: Hashable, Sendable {
        package var journals = EachPlace<[Entry]>([])
        package var files = EachPlace(Files())
        /// True for a command that ended with success: no run is left in progress.
        package var hasEnded = false
        /// False after a power cut, which loses parts of files that the model leaves out.
        package var comparesFiles = true
        /// The store that was at the new path before, if there was one.
        package var occupant = Occupant.none
        package init() {}
    }

    package enum Occupant: UInt8, Hashable, Sendable { case none, empty, other }

    /// The files of one place.
    package struct Files: Hashable, Sendable {
        package var hasMain = false
        /// Nil for a store whose fence cannot be read.
        package var isFenced: Bool? = false
        package var hasReceipt = false
        package var hasStaging = false
        package var hasRenamed = false
        package init() {}
    }

    /// A state, and the number of records of each journal that it explains; `hidden` for a journal that will be removed.
    private struct Position: Hashable {
        var key: StateKey
        var old: Int16
        var new: Int16
    }

    private static let hidden: Int16 = -1

    private let model: ProtocolModel
    private let trace: Trace

    package init(_ trace: Trace) {
        self.trace = trace
        var scope = ProtocolModel.Scope(trace.commands)
        scope.hasFailures = true
        scope.hasOptionalRecords = true
        model = ProtocolModel(scope)
    }

    /// What the model says to a trace.
    package enum Verdict: Hashable, Sendable {
        case allowed
        case refused(String)
        /// The search has visited too many states to go on.
        case undecided
    }

    /// The number of states after which a search gives up.
    private static let limit = 10_000

    /// What the model does not allow; nil for an allowed trace.
    package var objection: String? { if case .refused(let reason) = verdict { reason } else { nil } }

    package var verdict: Verdict {
        var best: Int16 = -1
        var furthest: (old: Int16, new: Int16) = (0, 0)
        var agreed = false
        var visited = 0
        search { state, old, new in
            visited += 1
            guard visited < Self.limit else { return false }
            let isWhole = old == Int16(trace.journals[.old].count) && new == Int16(trace.journals[.new].count)
            if max(old, 0) + max(new, 0) > best {
                best = max(old, 0) + max(new, 0)
                furthest = (max(old, 0), max(new, 0))
            }
            guard isWhole else { return true }
            if agrees(state) {
                agreed = true
                return false
            }
            return true
        }
        if agreed { return .allowed }
        if visited >= Self.limit { return .undecided }
        func text(_ entries: [Entry], _ count: Int16) -> String {
            let words = entries.map(\.description)
            guard Int(count) < words.count else { return words.joined(separator: " ") }
            return (words[..<Int(count)] + ["[\(words[Int(count)])]"] + words[(Int(count) + 1)...])
                .joined(separator: " ")
        }
        let isRefused = best < Int16(trace.journals[.old].count + trace.journals[.new].count)
        let reason =
            (isRefused ? "the model does not allow the record in brackets" : "no state of the model has these files")
            + ": old [\(text(trace.journals[.old], furthest.old))], new [\(text(trace.journals[.new], furthest.new))]"
            + (isRefused ? "" : "; \(trace.files)")
        return .refused(reason)
    }

    /// Visits every state that agrees with a beginning of the journals, until `visit` returns false.
    private func search(_ visit: (ProtocolState, Int16, Int16) -> Bool) {
        var seen: Set<Position> = []
        var queue: [(ProtocolState, Int16, Int16)] = []
        var next = 0
        func add(_ state: ProtocolState, _ old: Int16, _ new: Int16) {
            // An empty journal is removed when its lock is released; its records were not seen then.
            var (old, new) = (old, new)
            if state.processes.isEmpty {
                if state.journals[.old].isEmpty, !state.renamed[.old].hasArchive, old == Self.hidden { old = 0 }
                if state.journals[.new].isEmpty, new == Self.hidden { new = 0 }
            }
            let state = state.canonical
            if seen.insert(Position(key: state.key, old: old, new: new)).inserted { queue.append((state, old, new)) }
        }
        add(initial, 0, 0)
        while next < queue.count {
            let (state, old, new) = queue[next]
            next += 1
            guard visit(state, old, new) else { return }
            for step in model.steps(from: state) {
                var after = step.state
                after.budget = state.budget
                after.budget.writes = step.state.budget.writes
                after.budget.written = step.state.budget.written
                guard case .append(let record, let details, let place) = step.action else {
                    add(after, old, new)
                    continue
                }
                guard step.flaw == nil else { continue }
                let count = place == .old ? old : new
                let follows = { (count: Int16) in add(after, place == .old ? count : old, place == .old ? new : count) }
                let entries = trace.journals[place]
                if count != Self.hidden, Int(count) < entries.count, Self.matches(entries[Int(count)], record, details)
                {
                    follows(count + 1)
                }
                // A run whose journal was removed afterwards.
                let mayBeRemoved = place == .old && !trace.journals[.new].isEmpty
                if count == Self.hidden || (mayBeRemoved && count == 0 && record == .begin) { follows(Self.hidden) }
            }
        }
    }

    private static func matches(_ entry: Entry, _ record: Record, _ details: Journal.Details) -> Bool {
        guard entry.record == record else { return false }
        return record != .begin || (entry.fences == details.fences && entry.isInPlace == details.isInPlace)
    }

    /// The state before the first command.
    private var initial: ProtocolState {
        let budget = ProtocolState.Budget(
            crashes: 1,
            powerCuts: trace.comparesFiles ? 0 : 1,
            writes: trace.mayHaveLateWrites ? 1 : 0
        )
        let new: StoreFile =
            switch trace.occupant {
            case .none: .absent
            case .empty: .empty
            case .other: StoreFile(rows: .second)
            }
        var state = ProtocolState(new: new, budget: budget)
        let hasOld = trace.files[.old].hasMain || !trace.journals[.old].isEmpty
        if !hasOld { state.stores[.old] = .absent }
        return state
    }

    private func agrees(_ state: ProtocolState) -> Bool {
        guard state.processes.isEmpty else { return false }
        for place in [Place.old, .new] {
            let (store, files) = (state.stores[place], trace.files[place])
            if trace.hasEnded, state.journals[place].phase != .none { return false }
            guard trace.comparesFiles else { continue }
            guard store.isPresent == files.hasMain, (state.receipts[place] != .none) == files.hasReceipt,
                state.renamed[place].isPresent == files.hasRenamed
            else { return false }
            if store.isPresent, let isFenced = files.isFenced, (store.fence != .none) != isFenced { return false }
        }
        return !trace.comparesFiles
            || hasStaging(state, at: .new) == trace.files[.new].hasStaging
                && hasStaging(state, at: .old) == trace.files[.old].hasStaging
    }

    /// True if a staging folder is beside the store at a place: it belongs to the run that publishes there.
    private func hasStaging(_ state: ProtocolState, at place: Place) -> Bool {
        Place.allCases.contains { home in
            let run = state.journals[home].current
            return state.journals[home].phase == .running && run.to == place && state.staging[home].run == run.run
                && state.staging[home].run != .none
        }
    }
}

extension TraceReplay.Trace {
    private var records: Set<Record> { Set((journals[.old] + journals[.new]).map(\.record)) }
    private var hasInPlace: Bool { journals[.new].contains(where: \.isInPlace) }
    private var hasReverseShare: Bool { journals[.new].contains { $0.record == .begin && !$0.isInPlace } }

    /// True if only rows that apps wrote explain the records.
    fileprivate var mayHaveLateWrites: Bool {
        let runs = journals[.old].count { $0.record == .begin }
        return runs > 1 || records.contains(.merging) || hasReverseShare || records.contains(.unsharing)
    }

    /// The commands that may have left such records; others only make the search longer.
    fileprivate var commands: [Verb] {
        var commands: [Verb] = [.resume]
        if !journals[.old].isEmpty || hasReverseShare {
            commands += [.share, .capture]
            if occupant == .other { commands += [.shareKeepingOld] }
        }
        if records.contains(.merging) {
            commands += journals[.old].isEmpty ? [.merge] : [.shareMerging, .mergeRecorded]
        }
        if hasReverseShare || records.contains(.unsharing) { commands.append(.unshare) }
        if !records.isDisjoint(with: [.archived, .retiring]) { commands.append(.retire) }
        if hasInPlace { commands += [.restore, .migrate] }
        return commands
    }
}
