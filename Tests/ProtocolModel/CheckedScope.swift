/// A part of the protocol whose states are all visited.
///
/// Commands that decide about two stores with rows are part of every scope: a person can always give them.
package struct CheckedScope: Sendable, CustomStringConvertible {
    package let description: String
    package let scope: ProtocolModel.Scope
    package let budget: ProtocolState.Budget

    package init(
        _ verbs: [Verb],
        processes: Int,
        crashes: UInt8,
        powerCuts: UInt8,
        writes: UInt8,
        withOther: Bool = false
    ) {
        let decisions: [Verb] = [.shareMerging, .shareKeepingOld, .mergeRecorded].filter { !verbs.contains($0) }
        var scope = ProtocolModel.Scope(verbs + (withOther ? [] : decisions))
        scope.processes = processes
        scope.corrected = Set(OpenFlaw.allCases)
        if withOther { scope.homes = [.old, .other] }
        self.scope = scope
        budget = ProtocolState.Budget(crashes: crashes, powerCuts: powerCuts, writes: writes)
        description =
            verbs.map { "\($0)" }.joined(separator: ", ") + (withOther ? ", of two old stores" : "")
            + ": \(processes) processes, \(crashes) crashes, \(powerCuts) power cuts, \(writes) writes"
    }

    /// Visits every state; without `corrected`, as the tool is now.
    package func check(_ mistake: KnownMistake? = nil, asIs: Bool = false, stopsAtFirst: Bool = false)
        -> ModelChecker.Result
    {
        var scope = scope
        if asIs { scope.corrected = [] }
        var checker = ModelChecker(ProtocolModel(scope, mistake))
        checker.stopsAtFirst = stopsAtFirst
        let other: StoreFile = scope.homes.contains(.other) ? StoreFile(rows: .second) : .absent
        return checker.check([
            ProtocolState(new: .absent, other: other, budget: budget),
            ProtocolState(new: .empty, other: other, budget: budget),
        ])
    }

    /// What takes seconds in a debug build.
    package static let brief = [
        CheckedScope([.share, .capture, .retire, .resume], processes: 3, crashes: 1, powerCuts: 0, writes: 1),
        CheckedScope([.share, .unshare, .resume], processes: 2, crashes: 1, powerCuts: 1, writes: 0),
        CheckedScope([.share, .resume, .restore], processes: 1, crashes: 1, powerCuts: 0, writes: 1),
    ]

    /// Three processes, two crashes and a power cut.
    package static let whole = [
        CheckedScope([.share, .capture, .retire, .resume], processes: 3, crashes: 2, powerCuts: 1, writes: 1),
        CheckedScope([.share, .capture, .unshare, .resume], processes: 3, crashes: 2, powerCuts: 1, writes: 1),
        CheckedScope(
            [.share, .resume, .shareMerging],
            processes: 3,
            crashes: 2,
            powerCuts: 1,
            writes: 0,
            withOther: true
        ),
    ]

    /// What takes minutes in a release build, in addition.
    package static let large = [
        CheckedScope([.share, .resume, .restore], processes: 3, crashes: 2, powerCuts: 1, writes: 1),
        CheckedScope(
            [.share, .unshare, .retire, .resume, .restore],
            processes: 2,
            crashes: 1,
            powerCuts: 0,
            writes: 1
        ),
        CheckedScope(
            [.share, .capture, .unshare, .retire, .resume],
            processes: 3,
            crashes: 2,
            powerCuts: 1,
            writes: 1
        ),
    ]
}

extension KnownMistake {
    /// A small scope in which the mistake shows.
    package var witness: CheckedScope {
        switch self {
        case .fencedBeforePublishing, .doneBeforeReceipt, .rolledBackAfterPublishing, .copyNotCompleted:
            CheckedScope([.share, .resume], processes: 1, crashes: 1, powerCuts: 0, writes: 1)
        case .publishedUnsynced, .recordNotFlushed:
            CheckedScope([.share, .resume], processes: 1, crashes: 0, powerCuts: 1, writes: 0)
        case .retiredWithoutMarker, .removedBeforeArchive:
            CheckedScope([.capture, .retire, .resume], processes: 1, crashes: 1, powerCuts: 0, writes: 1)
        case .unsharedBeforeFence:
            CheckedScope([.capture, .unshare, .resume], processes: 1, crashes: 1, powerCuts: 0, writes: 1)
        case .restoredWithoutVoiding:
            CheckedScope([.share, .restore], processes: 1, crashes: 0, powerCuts: 0, writes: 1)
        }
    }
}

extension OpenFlaw {
    /// A small scope in which the flaw shows, and a part of the rule that it breaks.
    package var witness: (scope: CheckedScope, rule: String) {
        switch self {
        case .comparisonDuringRestore:
            (CheckedScope([.share, .restore], processes: 2, crashes: 0, powerCuts: 0, writes: 1), "lacks it")
        }
    }

    /// What the check finds with this flaw as it is and the others corrected.
    package func check() -> ModelChecker.Result {
        var scope = witness.scope.scope
        scope.corrected = Set(OpenFlaw.allCases).subtracting([self])
        let checker = ModelChecker(ProtocolModel(scope))
        let budget = witness.scope.budget
        return checker.check([ProtocolState(new: .absent, budget: budget), ProtocolState(new: .empty, budget: budget)])
    }
}
