/// How an interrupted run ends, from its records and the store at its destination.
enum RecoveryRule: Sendable {
    case back
    case forward
    case undecided

    init(_ run: CurrentRun, _ place: StoreFile, fencesFirst: Bool, keptDisplaced: Bool) {
        let isOwn = place.isPresent && place.copy == run.run
        if run.isPublishing {
            // The file identifies a published copy, even if programs wrote to it since.
            self = place.isPresent && place.file == run.run ? .forward : .back
        } else if run.isMerging {
            self = place.isPresent && place.mark == run.run ? .forward : .back
        } else if run.isReplacing, place.isPresent {
            let isShown = fencesFirst && keptDisplaced
            // The copy of the displaced store shows it if that has a fence: between equal contents, nothing else does.
            self = isShown && isOwn ? .forward : Self.afterReplacing(run, place, isOwn: isOwn)
        } else {
            self = .back
        }
    }

    /// Judges by the rows, whose digests the journal has.
    private static func afterReplacing(_ run: CurrentRun, _ place: StoreFile, isOwn: Bool) -> Self {
        if run.isPublished { return .forward }
        if run.migrates { return isOwn ? .forward : .back }
        if place.rows == run.displaced { return .back }
        if place.rows == run.rows { return .forward }
        return .undecided
    }
}
