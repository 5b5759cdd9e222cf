import SafeFiles
import StoreFormat

/// Replaces the store at one path by a copy that is staged and proved beside it: the run of a restore and of a migration.
///
/// The copy is renamed into place or, after a copy of the existing store was kept, replaces that store's content in one
/// transaction. There is no old store to fence, and no receipt to write.
struct InPlaceRun {
    /// A copy in the staging folder, flushed and proved.
    struct Staged {
        let copy: StagedCopy
        /// The token of the store that was copied.
        let token: FileToken
        /// The content digest of the copy; nil to compute it.
        let digest: String?
        /// The state that the store must still have when its content is replaced; nil when any is permitted.
        var source: Expectation?
    }

    /// What the run left.
    struct Result {
        let copy: StagedCopy
        /// The folder with the replaced store's files; nil when there was none.
        let keptAside: String?
        let findings: [Finding]
    }

    let context: RunContext
    /// Makes the records of the store's pairs void before publication; does nothing for content that keeps them valid.
    var voidRecords: (inout MigrationJournal) throws -> Void = { _ in }
    /// What follows publication, before the run is recorded as complete.
    var carryAlong: () -> [Finding] = { [] }

    private var place: StoreLocation { context.new }

    /// The record that begins a run over the store at `place`.
    func begin(
        restores: String? = nil,
        migratesTo: String? = nil,
        _ journal: inout MigrationJournal
    ) throws {
        let identity = try context.container.status(of: place.name)?.identity ?? context.container.status().identity
        try journal.append(
            .begin(
                JournalRecord.RunIdentity(
                    transaction: context.transaction,
                    old: place,
                    oldIdentity: identity,
                    new: place,
                    policy: .capture,
                    restores: restores,
                    migratesTo: migratesTo
                )
            )
        )
    }

    /// Stages and publishes the copy, and ends the run with the record `end`.
    ///
    /// `stage` calls its argument for an empty staging folder; it may be repeated, and then gets a new folder each time.
    /// `destination` is called with the staged copy.
    func carryOut<Destination: CopyDestination>(
        to destination: (Staged) -> Destination,
        endingWith end: JournalRecord,
        _ journal: inout MigrationJournal,
        stage: (_ folder: () throws -> Nest) throws -> Staged
    ) throws -> Result {
        var nest: Nest?
        var target: Destination?
        let staged: Staged
        do {
            staged = try stage {
                try nest?.remove()
                nest = nil
                let made = try Nest(creating: context.transaction, in: context.container)
                nest = made
                try journal.append(.nest(made.identity))
                RunMoment.copying.pass()
                return made
            }
            try context.monitor.checkCancellation()
            context.monitor.report(.publishing, 0, of: 1)
            RunMoment.publishing.pass()
            try voidRecords(&journal)
            let chosen = destination(staged)
            target = chosen
            try chosen.place(staged.copy, oldToken: staged.token, digest: staged.digest, &journal)
            RunMoment.placed.pass()
        } catch {
            if target?.placed != nil { throw MigrationError(error).afterPublishing }
            try context.rollBack(target, nest, &journal, cause: error)
            if error is DestinationAppeared {
                throw MigrationError(.busy, "another process created a store at the destination", path: place.path)
            }
            throw error
        }
        do {
            try target?.tidy(after: staged.copy)
            let findings = (staged.copy.proof?.findings ?? []) + carryAlong()
            try nest?.remove()
            try journal.append(end)
            context.monitor.report(.publishing, 1, of: 1)
            RunMoment.published.pass()
            let aside = AsideFolder.name(for: context.transaction)
            let isKept = try context.container.status(of: aside) != nil
            return Result(
                copy: staged.copy,
                keptAside: isKept ? place.folder + "/" + aside : nil,
                findings: findings
            )
        } catch {
            throw MigrationError(error).afterPublishing
        }
    }
}
