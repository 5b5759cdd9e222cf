/// How an interrupted run ends, from its records and the store at its destination.
enum RecoveryRule: Sendable {
    case back
    case forward
    case undecided

    init(_ run: CurrentRun, _ place: StoreFile, fencesFirst: Bool, keptDisplaced: Bool, seesFence: Bool) {
        let isOwn = place.isPresent && place.copy == run.run
        if run.isPublishing {
            // The file identifies a published copy, even if programs wrote to it since.
            self = place.isPresent && place.file == run.run ? .forward : .back
        } else if run.isMerging {
            self = place.isPresent && place.mark == run.run ? .forward : .back
        } else if run.isReplacing, place.isPresent {
            let isShown = fencesFirst && keptDisplaced
            self =
                isShown && isOwn && seesFence
                ? .forward : Self.afterReplacing(run, place, isOwn: isOwn, isShown: isShown)
        } else {
            self = .back
        }
    }

    /// Judges by the rows, whose digests the journal has; the copy of the displaced store shows more if it has a fence.
    private static func afterReplacing(_ run: CurrentRun, _ place: StoreFile, isOwn: Bool, isShown: Bool) -> Self {
        if run.isPublished { return .forward }
        if run.migrates { return isOwn ? .forward : .back }
        if place.rows == run.displaced { return .back }
        if place.rows == run.rows { return .forward }
        return isShown && isOwn ? .forward : .undecided
    }
}
