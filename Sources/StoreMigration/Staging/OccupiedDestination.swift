import SafeFiles
import StoreAccess
import StoreFormat
import SystemPackage

/// The state that a store must still have when its content is replaced.
struct RequiredState {
    let reading: TokenReading
    /// The content that the store must have if the token has changed; nil when only the token counts.
    let digest: String?
}

extension RequiredState {
    init(_ state: JournalRecord.OldState) {
        self.init(reading: TokenReading(token: state.token, takenAt: state.takenAt), digest: state.digest)
    }
}

/// A destination with a main file: a copy of that store is kept, and one transaction replaces its content.
final class OccupiedDestination: CopyDestination {
    private let context: RunContext
    private let aside: DisplacedFiles
    /// The content that the store must have; nil when the caller's decision permits any.
    private let expected: RequiredState?
    /// The runs whose fence is removed with the content.
    private let lifted: Set<String>
    /// The folder of the run's journal; nil when no record becomes void: the new content is the same store's, or the store's own
    /// journal ends the pair.
    private let home: StateFolder?
    /// The external files to remove after the commit point; nil before the replacement is journalled.
    private var removal: ExternalFilesOfDisplacedStore.Removal?
    private(set) var placed: PlacedStore?

    /// A destination whose content is lost to the pairs that it belongs to, unless `home` is nil.
    init(_ context: RunContext, expecting expected: RequiredState? = nil, journalledIn home: StateFolder?) {
        (self.context, self.home, self.expected) = (context, home, expected)
        lifted = []
        aside = DisplacedFiles(for: context.transaction, in: context.container)
    }

    /// The old store's path, which receives the new store's content and loses the fence set by one of `lifted`.
    init(reverse context: RunContext, expecting expected: RequiredState?, lifting lifted: Set<String>) {
        (self.context, self.expected, self.lifted) = (context, expected, lifted)
        home = nil
        aside = DisplacedFiles(for: context.transaction, in: context.container)
    }

    func publish(
        _ copy: StagedCopy,
        oldToken: FileToken,
        digest: String?,
        _ journal: inout MigrationJournal
    ) throws {
        let folder = try aside.open { try journal.append(.aside($0)) }
        try copySidecars(to: folder)
        let store = try WritableStore(
            context.new,
            .loss,
            lifting: lifted,
            lockTimeout: context.surroundings.lockTimeout
        )
        let displaced = try DisplacedStore(context, replacing: store, image: copy.location)
        try displaced.lock()
        try displaced.copyAside(to: folder)
        try requireStillExpendable(in: folder)
        try requireExpected(in: folder)
        try requireNoFence(in: folder)
        if let home {
            let records = PairRecords(store: context.new, surroundings: context.surroundings)
            try records.void(because: JournalRecord.contentReplaced, holding: &journal, at: home) { folder, _ in
                // The run's own record describes the new content and stays valid.
                folder.path == home.path
            }
            try records.doubtMerges(exceptIn: home)
        }
        let externalFiles = copy.external.identities
        let isMigrated = copy.orphanedFiles != nil
        let replacement = JournalRecord.Replacement(
            main: displaced.identity,
            externalFiles: externalFiles,
            oldToken: oldToken,
            loserDigest: isMigrated ? nil : try loserDigest(in: folder),
            digest: isMigrated ? nil : try copy.rowDigest(),
            contentDigest: isMigrated ? nil : try digest ?? copy.contentDigest(),
            migratedDigest: copy.migration?.digest,
            removedFiles: copy.orphanedFiles
        )
        try journal.append(.replacing(replacement))
        removal = replacement.removal
        try copy.external.publish(to: context.new, in: context.container) { name, folder in
            try aside.take(name, from: folder) { _ in }
        }
        // A commit that failed with an I/O error may still be in the log, and the next opener may recover it. From here
        // on nothing is rolled back; the next run checks the result.
        placed = PlacedStore(identity: displaced.identity)
        try displaced.replaceContent()
        placed?.token = try context.container.token(of: context.new.name)
        try journal.append(.published(displaced.identity))
    }

    func tidy(after copy: StagedCopy) throws {
        guard let removal else { return }
        try ExternalFilesOfDisplacedStore.remove(
            removal,
            keptIn: aside.opened(),
            of: context.new,
            in: context.container
        )
    }

    /// SQLite removes a log beside a main file of zero bytes on the next open; a copy of it is kept.
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

    /// Throws when the empty store received objects since planning; the lock is held.
    private func requireStillExpendable(in folder: Directory) throws {
        guard context.settings.onBoth != .keepOld, try folder.status(of: context.new.name)?.size != 0 else { return }
        let location = StoreLocation(folder: folder.path, name: context.new.name)
        guard
            let displaced = try context.surroundings.silent.inspector(.counts)
                .inspect(location).inspection,
            displaced.isEmpty
        else { throw DestinationAppeared(path: context.new.path) }
    }

    /// Throws when the store was written to since it was last read; the lock is held.
    ///
    /// Writers wait meanwhile, so the content is compared only when the token changed.
    private func requireExpected(in folder: Directory) throws {
        guard let expected,
            try !OldStateRecorder.isWhollyUnchanged(expected.reading, at: context.new, in: context.container)
        else { return }
        guard expected.digest != nil else { throw DestinationWritten() }
        let location = StoreLocation(folder: folder.path, name: context.new.name)
        guard try folder.status(of: location.name)?.size != 0 else { throw DestinationWritten() }
        let digest = try context.surroundings.silent.reader
            .read(location) { view in
                try StoreDigest(of: view.connection, externalData: view.externalData).value
            }
        guard digest == expected.digest else { throw DestinationWritten() }
    }

    /// Throws when another run has shared and fenced the store since it was opened; the lock is held.
    private func requireNoFence(in folder: Directory) throws {
        let location = StoreLocation(folder: folder.path, name: context.new.name)
        guard try folder.status(of: location.name)?.size != 0 else { return }
        try context.surroundings.silent.reader
            .read(location) { try WritableStore.requireNoFence(in: $0.connection, lifting: lifted) }
    }

    private func loserDigest(in folder: Directory) throws -> String? {
        let location = StoreLocation(folder: folder.path, name: context.new.name)
        guard let size = try folder.status(of: location.name)?.size, size > 0 else { return nil }
        return try context.surroundings.silent.reader
            .read(location) { view in
                try StoreDigest(of: view.connection, externalFiles: nil).value
            }
    }
}
