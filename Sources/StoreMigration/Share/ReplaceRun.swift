import Logging
import SafeFiles
import StoreFormat
import SystemPackage

/// Carries out a plan that replaces the content of the store at the destination.
struct ReplaceRun {
    private let context: RunContext
    private let inspection: StoreInspection

    init(_ context: RunContext, inspection: StoreInspection) {
        self.context = context
        self.inspection = inspection
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
        let aside = AsideFolder(for: context.transaction, in: context.container)
        do {
            try stageAndReplace(&published, aside, &journal)
        } catch {
            if published.identity != nil { throw MigrationError(error).afterPublishing }
            try takeBack(published, aside, &journal, cause: error)
            throw error
        }
        do {
            try ExternalFilesOfDisplacedStore.remove(
                except: published.copy?.external.identities.keys.map { $0 } ?? [],
                keptIn: aside.opened(),
                of: context.new,
                in: context.container
            )
            return try RunCloser(context, published: published, inspection: inspection).close(&journal)
        } catch {
            throw MigrationError(error).afterPublishing
        }
    }

    private func stageAndReplace(
        _ published: inout PublishedStore,
        _ aside: AsideFolder,
        _ journal: inout MigrationJournal
    ) throws {
        let nest = try Nest(creating: context.transaction, in: context.container)
        published.nest = nest
        try journal.append(.nest(nest.identity))
        let copy = try StagedCopy(context, nest: nest, mode: inspection.mode)
        published.copy = copy
        try copy.build()
        try copy.prove()
        try copy.catchUp()
        try context.monitor.checkCancellation()
        context.monitor.report(.publishing, 0, of: 1)

        let lock = try context.openOldStore()
        published.lock = lock
        try lock.beginWriting(deadline: context.lockDeadline())
        let start = ContinuousClock.now
        try copy.complete(under: lock)
        if context.options.oldStore == .capture { try published.keepBase(copy) }
        try replace(copy, &published, aside, &journal)
        if context.options.oldStore == .fence {
            published.findings += try FenceWriter(lock)
                .set(
                    transaction: context.transaction,
                    newPath: context.new.path
                )
            try lock.commit(deadline: context.lockDeadline())
            try journal.append(.fenced)
        } else {
            lock.rollback()
        }
        published.lockHold = start.duration(to: .now)
        context.monitor.report(.publishing, 1, of: 1)
    }

    private func replace(
        _ copy: StagedCopy,
        _ published: inout PublishedStore,
        _ aside: AsideFolder,
        _ journal: inout MigrationJournal
    ) throws {
        let folder = try aside.open { try journal.append(.aside($0)) }
        try copySidecars(to: folder)
        let displaced = try DisplacedStore(context, image: copy.location)
        try displaced.lock()
        try displaced.copyAside(to: folder)
        try requireStillExpendable(in: folder)
        let replacement = JournalRecord.Replacement(
            main: displaced.identity,
            externalFiles: copy.external.identities,
            oldToken: try context.oldFolder.token(of: context.old.name),
            loserDigest: try loserDigest(in: folder),
            digest: try copy.contentDigest()
        )
        try journal.append(.replacing(replacement))
        published.publication = JournalRecord.Publication(
            main: displaced.identity,
            externalFiles: copy.external.identities,
            oldToken: replacement.oldToken,
            digest: replacement.digest
        )
        try copy.external.publish(to: context.new, in: context.container) { name, folder in
            try aside.take(name, from: folder) { _ in }
        }
        try displaced.replaceContent()
        published.identity = displaced.identity
        published.token = try context.container.token(of: context.new.name)
        try journal.append(.published(displaced.identity))
    }

    /// A log beside a main file of zero bytes is removed by the next opener; a copy of it is kept.
    private func copySidecars(to folder: Directory) throws {
        guard try context.container.status(of: context.new.name)?.size == 0 else { return }
        for name in [context.new.writeAheadLogName, context.new.journalName] {
            guard let status = try context.container.status(of: name), status.size > 0 else { continue }
            let output = try folder.createFile("orphan" + name.dropFirst(context.new.name.count), mode: 0o600)
            try context.container.openFile(name, for: .reading).copyBytes(to: output, chunk: 1 << 20)
            try output.synchronize()
            try output.close()
        }
    }

    /// Throws when somebody wrote objects into the empty store since the run was planned; the lock is held now.
    private func requireStillExpendable(in folder: Directory) throws {
        guard context.options.onBoth != .keepOld, try folder.status(of: context.new.name)?.size != 0 else { return }
        let location = StoreLocation(folder: folder.path, name: context.new.name)
        guard let displaced = try StoreInspector(depth: .counts).inspect(location).inspection,
            displaced.objectCount == 0
        else { throw DestinationAppeared() }
    }

    private func loserDigest(in folder: Directory) throws -> String? {
        let location = StoreLocation(folder: folder.path, name: context.new.name)
        guard let size = try folder.status(of: location.name)?.size, size > 0 else { return nil }
        return try StoreReader()
            .withView(of: location) { view in
                try StoreDigest(of: view.connection, externalData: view.externalData).value
            }
    }

    private func takeBack(
        _ published: PublishedStore,
        _ aside: AsideFolder,
        _ journal: inout MigrationJournal,
        cause: any Error
    ) throws {
        published.lock?.rollback()
        do {
            if let publication = published.publication {
                try StagedExternalFiles.takeBack(publication.externalFiles, of: context.new, in: context.container)
            }
            try ExternalFilesOfDisplacedStore.restore(from: aside.opened(), to: context.new, in: context.container)
            try aside.removeCopies()
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
