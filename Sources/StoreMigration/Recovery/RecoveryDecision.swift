package import SafeFiles

/// What becomes of an interrupted run: a pure function from the journal and what stands at the destination.
package enum RecoveryDecision: Hashable, Sendable {
    /// The commit point was not reached: everything is taken back.
    case back
    /// The commit point was passed: the rest is done.
    case forward
    /// What stands at the destination is neither what was there nor what was to be; nothing is touched.
    case undecided

    /// What a look at the destination shows.
    package struct Observation: Hashable, Sendable {
        /// The main file at the destination, if there is one.
        package let main: FileIdentity?
        /// The content digest at the destination, which only a replacement asks for; nil when it is an empty file.
        package let digest: String?
        /// The mark of the last merge into the store at the destination, which only a merge asks for.
        package let epoch: String?

        package init(main: FileIdentity?, digest: String?, epoch: String? = nil) {
            self.main = main
            self.digest = digest
            self.epoch = epoch
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
            // The file that was to be written is gone; the content is whole in the old store.
            self = .back
        } else if isPublished {
            self = .forward
        } else if observed.digest == replacement.loserDigest {
            // Where both hold the same, too: a fence, which the digest leaves out, may still stand there.
            self = .back
        } else if observed.digest == replacement.digest {
            self = .forward
        } else {
            self = .undecided
        }
    }
}
