import Logging
import SafeFiles
import StoreFormat
import StoreStrategies
import StoreVerification
import SystemPackage

/// Something took the destination's name while the copy was made.
struct DestinationAppeared: Error {}

/// Carries out a plan that publishes a copy where no main file is.
///
/// The order is that of the commit protocol: stage, prove, lock, complete, publish, fence, unlock, prove what could not
/// be proved before, close.
struct PublishRun {
    private let context: RunContext
    private let inspection: StoreInspection
    private let view: StoreView?

    /// Prepares the run; with `view`, the old store may only be read, and nothing of it is locked or fenced.
    init(_ context: RunContext, inspection: StoreInspection, view: StoreView? = nil) {
        self.context = context
        self.inspection = inspection
        self.view = view
    }

    /// Shares the store; on an error before the commit point everything is taken back.
    func run(_ journal: inout MigrationJournal) throws -> RunResult {
        try journal.append(
            .begin(
                JournalRecord.RunIdentity(
                    transaction: context.transaction,
                    old: context.old,
                    oldIdentity: inspection.identity,
                    new: context.new,
                    policy: context.options.oldStore
                )
            )
        )
        var published = PublishedStore(context: context)
        do {
            try stageAndPublish(&published, &journal)
        } catch {
            if published.identity != nil { throw MigrationError(error).afterPublishing }
            try takeBack(published, &journal, cause: error)
            throw error
        }
        do {
            return try RunCloser(context, published: published, inspection: inspection).close(&journal)
        } catch {
            throw MigrationError(error).afterPublishing
        }
    }

    private func stageAndPublish(_ published: inout PublishedStore, _ journal: inout MigrationJournal) throws {
        let nest = try Nest(creating: context.transaction, in: context.container)
        published.nest = nest
        try journal.append(.nest(nest.identity))
        let copy = try StagedCopy(context, nest: nest, mode: inspection.mode, view: view)
        published.copy = copy
        try copy.build()
        try copy.prove()
        try copy.catchUp()
        try context.monitor.checkCancellation()
        context.monitor.report(.publishing, 0, of: 1)

        guard view == nil else {
            try published.keepBase(copy)
            return try publish(copy, &published, &journal)
        }
        let lock = try context.openOldStore()
        published.lock = lock
        try lock.beginWriting(deadline: context.lockDeadline())
        let start = ContinuousClock.now
        try copy.complete(under: lock)
        if context.options.oldStore == .capture { try published.keepBase(copy) }
        try publish(copy, &published, &journal)
        if context.options.oldStore == .fence {
            published.findings += try FenceWriter(lock)
                .set(
                    transaction: context.transaction,
                    newPath: context.new.path
                )
            try lock.commit(deadline: context.lockDeadline())
        } else {
            lock.rollback()
        }
        published.lockHold = start.duration(to: .now)
        if context.options.oldStore == .fence { try journal.append(.fenced) }
        context.monitor.report(.publishing, 1, of: 1)
    }

    /// Moves the copy into place; the commit point is the rename of the main file.
    private func publish(
        _ copy: StagedCopy,
        _ published: inout PublishedStore,
        _ journal: inout MigrationJournal
    ) throws {
        let identity = try copy.main.status().identity
        let publication = JournalRecord.Publication(
            main: identity,
            externalFiles: copy.external.identities,
            oldToken: try context.oldFolder.token(of: context.old.name),
            digest: copy.changedSinceProof ? nil : copy.proof?.digest?.value
        )
        try copy.main.close()
        try journal.append(.publishing(publication))
        published.publication = publication

        let aside = AsideFolder(for: context.transaction, in: context.container)
        published.aside = aside
        try moveSidecarsAside(aside, &journal)
        var created: FileIdentity?
        try copy.external.publish(to: context.new, in: context.container) { name, folder in
            try aside.take(name, from: folder) { created = $0 }
        }
        if let created { try journal.append(.aside(created)) }
        do {
            try copy.publishMain(into: context.container, as: context.new.name)
        } catch let error as FileError where error.errno == .fileExists {
            throw DestinationAppeared()
        }
        published.identity = identity
        published.token = try context.container.token(of: context.new.name)
        try context.container.synchronize()
        try journal.append(.published(identity))
    }

    /// Moves a log or journal that no main file claims out of the way; it would be replayed into the new store.
    private func moveSidecarsAside(_ aside: AsideFolder, _ journal: inout MigrationJournal) throws {
        guard try context.container.status(of: context.new.name) == nil else { throw DestinationAppeared() }
        let sidecars = [context.new.writeAheadLogName, context.new.sharedMemoryName, context.new.journalName]
        var created: FileIdentity?
        for name in sidecars where try context.container.status(of: name) != nil {
            try aside.take(name, from: context.container) { created = $0 }
        }
        if let created { try journal.append(.aside(created)) }
        if !aside.isEmpty { try context.container.synchronize() }
    }

    /// Takes everything back; when that fails too, the run counts as interrupted and recovery finishes the work.
    private func takeBack(
        _ published: PublishedStore,
        _ journal: inout MigrationJournal,
        cause: any Error
    ) throws {
        published.lock?.rollback()
        do {
            if let publication = published.publication {
                try StagedExternalFiles.takeBack(publication.externalFiles, of: context.new, in: context.container)
            }
            try published.aside?.putBack()
            // Absent here if its creation failed halfway; it is recognised by its name then.
            let nest = try published.nest ?? Nest(of: context.transaction, identity: nil, in: context.container)
            try nest?.remove()
            try journal.append(.rolledBack)
        } catch {
            context.logger.error("taking back failed", metadata: ["error": "\(error)", "cause": "\(cause)"])
            throw MigrationError(cause).afterPublishing
        }
    }
}
