/// The steps of every program in the order of the code, with the changes of a known mistake.
struct Programs: Sendable {
    private let table: [[Instruction]]

    init(_ mistake: KnownMistake? = nil) {
        table = Program.allCases.map { mistake?.changed(Self.steps(of: $0), of: $0) ?? Self.steps(of: $0) }
    }

    subscript(_ program: Program, _ step: UInt8) -> Instruction {
        let steps = table[Int(program.rawValue)]
        return Int(step) < steps.count ? steps[Int(step)] : .end
    }

    /// Creates the staging folder and copies the source without a lock.
    private static let stage: [Instruction] = [.append(.begin), .makeStaging, .append(.nest), .copy]
    /// The same, and then completes the copy under the lock.
    private static let completed = stage + [.lockStore(.from), .completeCopy]
    /// Publishes at a vacant place.
    private static let rename: [Instruction] = [
        .append(.publishing), .publishMain, .synchronizeFolder, .append(.published),
    ]
    /// Keeps a copy of the store that is there, and replaces its content.
    private static let displace: [Instruction] = [.append(.aside), .lockStore(.to), .copyDisplaced]
    private static let overwrite: [Instruction] = [.append(.replacing), .replaceContent, .append(.published)]
    /// What follows the commit point of a copy.
    private static let close: [Instruction] = [.append(.proved), .writeReceipt, .removeStaging, .append(.done), .end]

    private static func steps(of program: Program) -> [Instruction] {
        sharing(program) ?? recovering(program) ?? inPlace(program) ?? retiring(program) ?? unsharing(program)
    }

    private static func sharing(_ program: Program) -> [Instruction]? {
        switch program {
        case .decide: [.decide]
        case .end: [.end]
        case .publish: completed + rename + [.commitFence, .append(.fenced)] + close
        case .publishCaptured: completed + [.unlockStore(.from), .keepBase, .append(.base)] + rename + close
        case .replace:
            completed + displace + [.requireExpendable, .voidPairs] + overwrite + [.commitFence, .append(.fenced)]
                + close
        case .replaceCaptured:
            completed + [.unlockStore(.from), .keepBase, .append(.base)] + displace + [.requireExpendable, .voidPairs]
                + overwrite + close
        case .protect:
            [.append(.begin), .lockStore(.from), .commitFence, .append(.fenced), .readContent, .writeReceipt]
                + [.append(.done), .end]
        case .protectCaptured:
            [.append(.begin), .readContent, .keepBase, .append(.base), .writeReceipt, .append(.done), .end]
        case .protectWithoutBase: [.append(.begin), .readContent, .writeReceipt, .append(.done), .end]
        case .mergePair:
            [.append(.begin), .lockStore(.from), .pinSource, .unlockStore(.from), .lockStore(.to), .append(.merging)]
                + [.commitMerge, .writeReceipt, .append(.done), .end]
        case .mergePairAndFence:
            [.append(.begin), .lockStore(.from), .pinSource, .commitFence, .append(.fenced), .lockStore(.to)]
                + [.append(.merging), .commitMerge, .writeReceipt, .append(.done), .end]
        case .liftFence: [.liftFence, .append(.unfenced), .decide]
        case .renew: [.mayAppend(.choosing), .mayAppend(.renewed), .end]
        default: nil
        }
    }

    private static func recovering(_ program: Program) -> [Instruction]? {
        switch program {
        case .rollBack: [.removeStaging, .liftOwnFence, .append(.rolledBack), .decide]
        case .finishCopy: finish + [.decide]
        case .finishInPlace:
            [.synchronizeFolder, .appendUnlessThere(.published), .removeStaging, .append(.restored), .decide]
        case .finishMerge: [.writeReceipt, .append(.done), .decide]
        case .failProof: [.liftOwnFence, .removeStaging, .append(.unfenced), .end]
        default: nil
        }
    }

    /// What recovery does after the commit point of a copy.
    private static let finish: [Instruction] = [
        .synchronizeFolder, .appendUnlessThere(.published), .commitFenceUnlessSet, .appendUnlessThere(.fenced),
        .append(.proved), .writeReceipt, .removeStaging, .keepUntouchedBase, .append(.done),
    ]

    private static func inPlace(_ program: Program) -> [Instruction]? {
        let staged: [Instruction] = [.append(.begin), .makeStaging, .append(.nest), .copyBackup]
        let closed: [Instruction] = [.removeStaging, .append(.restored), .end]
        return switch program {
        case .loneMerge: [.lockStore(.to), .append(.merging), .commitLoneMerge, .append(.merged), .end]
        case .settleMerge: [.append(.unmerged), .decide]
        case .restoreToVacancy: staged + [.voidPairs] + rename + closed
        case .restoreClearing:
            staged + [.voidPairs, .append(.publishing), .append(.aside), .displaceUnreadable, .publishMain]
                + [.synchronizeFolder, .append(.published)] + closed
        case .restoreOver: staged + [.voidPairs] + displace + [.voidPairs] + overwrite + closed
        case .migrateInPlace:
            stage + displace + [.requireUnchanged] + overwrite + [.removeStaging, .append(.migrated), .end]
        default: nil
        }
    }

    private static func retiring(_ program: Program) -> [Instruction]? {
        let removal: [Instruction] = [.removeRenamed, .synchronizeRemoval, .append(.removed), .decide]
        return switch program {
        case .retire:
            [
                .requireSettled, .archive, .appendUnlessThere(.archived), .requireSettled, .append(.retiring), .seal,
                .rename,
            ]
                + [.synchronizeRename, .append(.retired)] + removal.dropLast() + [.end]
        case .finishRename: [.synchronizeRename, .append(.retired)] + removal
        case .removeRenamed: removal
        case .liftMarker: [.liftMarker, .mayAppend(.retiring), .decide]
        default: nil
        }
    }

    private static func unsharing(_ program: Program) -> [Instruction] {
        switch program {
        case .beginUnshare: [.mayAppend(.renewed), .append(.unsharing), .lockJournalOfNew, .decideReverseShare]
        case .enterReverseShare: [.lockJournalOfNew, .decideReverseShare]
        case .bringBack:
            completed + [.commitFenceAndKeepLock] + displace + [.requireUnchanged] + overwrite
                + [.unlockStore(.from), .append(.fenced)] + closeBack
        case .bringBackToVacancy:
            completed + [.commitFenceAndKeepLock] + rename + [.unlockStore(.from), .append(.fenced)] + closeBack
        case .rollBackBack: [.removeStaging, .liftOwnFence, .append(.rolledBack), .decideReverseShare]
        case .finishBack: finish + [.decideReverseShare]
        case .withdraw:
            [.unlockJournalOfNew, .lockJournalOfNew, .append(.retiring), .seal, .rename, .synchronizeRename]
                + [.append(.retired), .decideReverseShare]
        case .finishWithdrawal: [.synchronizeRename, .append(.retired), .decideReverseShare]
        case .endUnshare: [.unlockJournalOfNew, .append(.unshared), .end]
        case .giveUpUnshare: [.unlockJournalOfNew, .append(.rolledBack), .end]
        default: [.end]
        }
    }

    private static let closeBack: [Instruction] = close.dropLast() + [.decideReverseShare]
}

/// A mistake in the order of the steps, as a later change might make it.
package enum KnownMistake: String, CaseIterable, Sendable {
    /// The old store is fenced before the journal announces the publication.
    case fencedBeforePublishing
    /// The run is recorded as complete before the receipt is written.
    case doneBeforeReceipt
    /// Recovery rolls a published run back.
    case rolledBackAfterPublishing
    /// The copy is renamed into place before it is flushed.
    case publishedUnsynced
    /// The store is retired without its read-only marker.
    case retiredWithoutMarker
    /// The new store's fence is set after its content was returned.
    case unsharedBeforeFence
    /// A backup is restored without voiding the record of the pair.
    case restoredWithoutVoiding
    /// A record is not flushed before the run goes on.
    case recordNotFlushed
    /// The copy is not brought up to date under the lock.
    case copyNotCompleted
    /// The old store is removed before its archive is made.
    case removedBeforeArchive

    /// The steps of a program with the mistake.
    func changed(_ steps: [Instruction], of program: Program) -> [Instruction] {
        var steps = steps
        func move(_ instruction: Instruction, before other: Instruction) {
            guard let index = steps.firstIndex(of: instruction) else { return }
            steps.remove(at: index)
            if let target = steps.firstIndex(of: other) { steps.insert(instruction, at: target) }
        }
        func replace(_ instruction: Instruction, by other: [Instruction]) {
            guard let index = steps.firstIndex(of: instruction) else { return }
            steps.replaceSubrange(index...index, with: other)
        }
        switch self {
        case .fencedBeforePublishing where program == .publish: move(.commitFence, before: .append(.publishing))
        case .doneBeforeReceipt where program == .publish: move(.append(.done), before: .writeReceipt)
        case .publishedUnsynced where program == .publish: replace(.completeCopy, by: [.completeCopyUnsynced])
        case .retiredWithoutMarker where program == .retire: replace(.seal, by: [.sealNot])
        case .unsharedBeforeFence where program == .bringBack:
            steps.removeAll { $0 == .commitFenceAndKeepLock }
            replace(.unlockStore(.from), by: [.commitFence])
        case .restoredWithoutVoiding where program == .restoreOver: steps.removeAll { $0 == .voidPairs }
        case .copyNotCompleted where program == .publish: replace(.completeCopy, by: [.synchronizeCopy])
        case .removedBeforeArchive where program == .retire:
            steps.removeAll { $0 == .archive }
            replace(.append(.removed), by: [.archive, .append(.removed)])
        default: break
        }
        return steps
    }
}
