package import SafeFiles

/// How an interrupted run ends: a pure function of the journal and the destination's state.
package enum RecoveryDecision: Hashable, Sendable {
    /// The commit point was not reached: everything is rolled back.
    case back
    /// The commit point was passed: the run is finished.
    case forward
    /// The destination has neither the former nor the new content; nothing is touched.
    case undecided

    /// The destination's observed state.
    package struct Observation: Hashable, Sendable {
        /// The main file at the destination, if there is one.
        package let main: FileIdentity?
        /// The content digest at the destination, read only for a replacement with digests; nil for an empty file.
        package let digest: String?
        /// The mark of the last merge into the store at the destination, read only for a merge.
        package let epoch: String?

        /// Whether the content was replaced, as far as more than the rows shows it; nil if nothing does.
        package let isReplaced: Bool?

        package init(main: FileIdentity?, digest: String?, epoch: String? = nil, isReplaced: Bool? = nil) {
            self.main = main
            self.digest = digest
            self.epoch = epoch
            self.isReplaced = isReplaced
        }
    }

    package init(_ run: RunState.InterruptedRun, _ observed: Observation) {
        if let publication = run.publication {
            self = observed.main?.mayBe(recorded: publication.main) == true ? .forward : .back
        } else if let merging = run.merging {
            self = observed.epoch == merging.epoch ? .forward : .back
        } else if let replacement = run.replacement {
            self.init(replacement, isPublished: run.published != nil, observed)
        } else {
            self = .back
        }
    }

    private init(_ replacement: JournalRecord.Replacement, isPublished: Bool, _ observed: Observation) {
        if observed.main?.mayBe(recorded: replacement.main) != true {
            // The file to be written is gone; the old store still has the whole content.
            self = .back
        } else if isPublished {
            self = .forward
        } else if let digest = replacement.digest, digest != replacement.loserDigest,
            [replacement.loserDigest, digest].contains(observed.digest)
        {
            self = observed.digest == digest ? .forward : .back
        } else if let isReplaced = observed.isReplaced {
            // Programs have written to the store since, or both contents are equal and only the fence differs.
            self = isReplaced ? .forward : .back
        } else if replacement.digest != nil, observed.digest == replacement.loserDigest {
            self = .back
        } else {
            self = .undecided
        }
    }
}
