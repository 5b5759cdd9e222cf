/// A command of the tool, as a person or an app gives it for a pair of places.
package enum Verb: UInt8, CaseIterable, Sendable {
    case share
    /// `share --old capture`: the old store takes writes, and later shares merge them.
    case capture
    /// `share --on-both keep-old`.
    case shareKeepingOld
    /// `share --on-both merge`.
    case shareMerging
    case unshare
    case retire
    /// `resume`, which finishes or rolls back what a killed command left.
    case resume
    /// `merge NEW OLD` of stores that no record calls a pair.
    case merge
    /// `merge NEW OLD` of a recorded pair, also without a base.
    case mergeRecorded
    /// `restore --overwrite always` to the new path.
    case restore
    /// `migrate` of the store at the new path.
    case migrate

    /// True for the forms of `share`.
    var shares: Bool { [.share, .capture, .shareKeepingOld, .shareMerging].contains(self) }
    /// True for a command over the store at the new path, whose journal is beside that store.
    package var isAtNew: Bool { [.merge, .restore, .migrate].contains(self) }
}

/// One step of a command: a single change, or a check.
enum Instruction: Hashable, Sendable {
    /// Appends a record and flushes it.
    case append(Record)
    /// The same unless the journal has it, as recovery does.
    case appendUnlessThere(Record)
    /// A record that depends on what the model leaves out, such as a checkpoint: appended or not.
    case mayAppend(Record)

    case lockStore(Role)
    case unlockStore(Role)
    case lockJournalOfNew, unlockJournalOfNew

    case makeStaging, removeStaging
    /// Copies the source without its lock; what is written meanwhile is missing.
    case copy
    /// Brings the copy up to date under the source's lock, and flushes it.
    case completeCopy
    /// The same without the flush: a known mistake.
    case completeCopyUnsynced
    /// The flush alone: a known mistake.
    case synchronizeCopy
    case copyBackup
    /// Renames the copy to a vacant place; a store there makes the run roll back.
    case publishMain
    case synchronizeFolder
    /// Copies the store that is replaced, under its lock.
    case copyDisplaced
    /// Checks, under its lock, that the store to be replaced has the shared content.
    case requireUnchanged
    /// Checks, under its lock, that the store to be replaced has no rows.
    case requireExpendable
    /// Replaces the content in one transaction, which removes a fence, and releases the lock.
    case replaceContent
    /// Moves an unreadable store out of the way: here one that stays where it is until the rename.
    case displaceUnreadable
    /// Sets the fence and releases the source's lock.
    case commitFence
    /// The same, unless recovery finds it set.
    case commitFenceUnlessSet
    /// Sets the fence and keeps the lock.
    case commitFenceAndKeepLock
    /// Lifts the run's own fence, if it has set one.
    case liftOwnFence
    case liftFence
    case writeReceipt
    case keepBase
    /// After late writes only the new store has the shared content, if no program wrote to it.
    case keepUntouchedBase
    /// Reads the old store, which must have the content that the plan relies on.
    case readContent
    /// Copies the source as the base of the next merge, under its lock.
    case pinSource
    case commitMerge
    case commitLoneMerge
    /// Voids the records of the pairs that the store at the new path belongs to.
    case voidPairs

    case archive
    /// Checks that the old store has no late writes.
    case requireSettled
    case seal
    /// Renames without the marker: a known mistake.
    case sealNot
    case liftMarker
    case rename
    case synchronizeRename
    case removeRenamed
    case synchronizeRemoval

    /// Decides what follows, from what is there now.
    case decide
    case decideReverseShare
    case end

    enum Role: Hashable, Sendable { case from, to }
}

/// What a command carries out; each is a list of instructions.
package enum Program: UInt8, CaseIterable, Sendable {
    case decide, end
    case publish, publishCaptured
    case replace, replaceCaptured
    case protect, protectCaptured, protectWithoutBase
    case mergePair, mergePairAndFence
    case rollBack, finishCopy, finishInPlace, finishMerge, settleMerge
    case liftFence, renew
    case loneMerge
    case restoreToVacancy, restoreOver, restoreClearing, migrateInPlace
    case retire, finishRename, removeRenamed, liftMarker
    case beginUnshare, enterReverseShare, bringBack, bringBackToVacancy, withdraw, finishWithdrawal, endUnshare
    case giveUpUnshare, rollBackBack, finishBack, failProof
}
