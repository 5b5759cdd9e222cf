import SafeFiles
import StoreAccess

/// Replaces the store at one path by a copy that is staged and proved beside it: the run of a restore and of a migration.
///
/// The copy is renamed into place or, after a copy of the existing store was kept, replaces that store's content in one
/// transaction. There is no old store to fence, and no receipt to write.
struct InPlaceRun<Destination: CopyDestination>: RunWork {
    let context: RunContext
    /// The content digest of the backup that a restore brings.
    var restores: String?
    /// The path of the model that a migration carries out.
    var migratesTo: String?
    /// Makes the copy in a staging folder that its argument creates; repeated calls create it anew.
    let stage: (_ folder: () throws -> StagingFolder) throws -> StagedContent
    /// Where the staged copy goes.
    let destination: (StagedContent) -> Destination
    /// Makes the records of the store's pairs void before publication; does nothing for content that keeps them valid.
    var voidRecords: (inout MigrationJournal) throws -> Void = { _ in }
    /// What follows publication, before the run is recorded as complete.
    var carryAlong: () -> [Finding] = { [] }

    private var staging: StagingFolder?
    private var target: Destination?
    private var staged: StagedContent?

    init(
        _ context: RunContext,
        to destination: @escaping (StagedContent) -> Destination,
        stage: @escaping (_ folder: () throws -> StagingFolder) throws -> StagedContent
    ) {
        (self.context, self.destination, self.stage) = (context, destination, stage)
    }

    private var place: StoreLocation { context.new }

    var identity: JournalRecord.RunIdentity {
        get throws {
            JournalRecord.RunIdentity(
                transaction: context.transaction,
                old: place,
                oldIdentity: try context.container.status(of: place.name)?.identity
                    ?? context.container.status().identity,
                new: place,
                policy: context.settings.treatment,
                restores: restores,
                migratesTo: migratesTo
            )
        }
    }

    var isCommitted: Bool? { target?.placed != nil }
    /// There is no old store to fence.
    var mayHaveFenced: Bool { false }

    /// Carries out the run.
    func run(_ journal: inout MigrationJournal) throws -> ReplacedStore {
        do {
            return try JournalledRun(self).carryOut(&journal)
        } catch is DestinationAppeared {
            throw MigrationError(.busy, "another process created a store at the destination", path: place.path)
        }
    }

    mutating func commit(_ journal: inout MigrationJournal) throws {
        let stage = stage
        let staged = try stage {
            try staging?.remove()
            staging = nil
            let made = try StagingFolder(creating: context.transaction, in: context.container)
            staging = made
            try journal.append(.nest(made.identity))
            TriggerPoint.copying.pass()
            return made
        }
        self.staged = staged
        try context.monitor.checkCancellation()
        context.monitor.report(.publishing, 0, of: 1)
        TriggerPoint.publishing.pass()
        try voidRecords(&journal)
        let target = destination(staged)
        self.target = target
        try target.publish(staged.copy, oldToken: staged.token, digest: staged.digest, &journal)
        TriggerPoint.placed.pass()
    }

    mutating func finish(_ journal: inout MigrationJournal) throws -> ReplacedStore {
        guard let staged, let target else {
            throw MigrationError(.failed, "no store was published", path: place.path)
        }
        try target.tidy(after: staged.copy)
        let findings = (staged.copy.proof?.findings ?? []) + carryAlong()
        try RunEnding.closeInPlace(migrating: migratesTo != nil, removing: staging, &journal)
        context.monitor.report(.publishing, 1, of: 1)
        TriggerPoint.published.pass()
        let aside = DisplacedFiles.name(for: context.transaction)
        let isKept = try context.container.status(of: aside) != nil
        return ReplacedStore(
            copy: staged.copy,
            keptAside: isKept ? place.folder + "/" + aside : nil,
            findings: findings
        )
    }
}

/// A copy in the staging folder, flushed and proved, that replaces the store at its path.
struct StagedContent {
    let copy: StagedCopy
    /// The token of the store that was copied.
    let token: FileToken
    /// The content digest of the copy; nil to compute it.
    let digest: String?
    /// The state that the store must still have when its content is replaced; nil when any is permitted.
    var source: RequiredState?
}

/// What a run in place left.
struct ReplacedStore {
    let copy: StagedCopy
    /// The folder with the replaced store's files; nil when there was none.
    let keptAside: String?
    let findings: [Finding]
}
