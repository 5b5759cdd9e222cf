import SafeFiles
import StoreFormat
import SystemPackage

/// Something took the destination's name, or went from there, while the copy was made.
struct DestinationAppeared: Error {
    let path: String
}

/// A destination without a main file: the copy moves there, and the commit point is the rename of its main file.
///
/// One with a main file that nobody can read is made such a one first, under a lease: what is there moves aside whole.
final class VacantPlace: CopyDestination {
    private let context: RunContext
    private let aside: AsideFolder
    private let clears: Bool
    /// The external files that are about to move into place, once the journal tells of them.
    private var announcedFiles = NameTable<FileIdentity>()
    private(set) var placed: PlacedStore?

    /// A place where nothing is, or, with `clears`, what nobody can read.
    init(_ context: RunContext, clears: Bool = false) {
        self.context = context
        self.clears = clears
        aside = AsideFolder(for: context.transaction, in: context.container)
    }

    func place(
        _ copy: StagedCopy,
        oldToken: FileToken,
        digest: String?,
        _ journal: inout MigrationJournal
    ) throws {
        let status = try copy.main.status()
        let identity = status.identity
        try copy.main.close()
        let externalFiles = copy.external.identities
        let publication = JournalRecord.Publication(
            main: identity,
            externalFiles: externalFiles,
            oldToken: oldToken,
            digest: digest,
            size: status.size,
            modified: status.modified
        )
        if !SeededBug.publicationNotJournalled.isMade { try journal.append(.publishing(publication)) }
        announcedFiles = externalFiles

        let lease = clears ? try moveStoreAside(&journal) : nil
        defer { lease?.release() }
        try moveSidecarsAside(&journal)
        try copy.external.publish(to: context.new, in: context.container) { name, folder in
            try aside.take(name, from: folder) { try journal.append(.aside($0)) }
        }
        do {
            try copy.publishMain(into: context.container, as: context.new.name)
        } catch let error as FileError where error.errno == .fileExists {
            throw DestinationAppeared(path: context.new.path)
        }
        // From here on nothing is taken back, whatever fails.
        placed = PlacedStore(identity: identity)
        placed?.token = try context.container.token(of: context.new.name)
        try context.container.synchronize()
        try journal.append(.published(identity))
    }

    func putBack() throws {
        try StagedExternalFiles.takeBack(announcedFiles, of: context.new, in: context.container)
        try aside.putBack(to: context.new)
    }

    func tidy(after copy: StagedCopy) {}

    /// Moves the main file, and the folder of external files, out of the way; nobody has the file open as long as the
    /// lease is held.
    private func moveStoreAside(_ journal: inout MigrationJournal) throws -> FileLease? {
        let (name, container) = (context.new.name, context.container)
        guard let status = try container.status(of: name) else { return nil }
        guard let lease = try FileLease.acquire(on: name, in: container, deadline: context.lockDeadline()),
            try container.status(of: name)?.identity == status.identity, lease.isIntact()
        else {
            let holders = OpenFiles.holders(of: status.identity).map(String.init).joined(separator: ", ")
            throw MigrationError(
                .busy,
                "what is there is open\(holders.isEmpty ? "" : " by process \(holders)"), and cannot be moved aside",
                path: context.new.path,
                advice: "Close every program that has it open, then restore again."
            )
        }
        for name in [name, context.new.supportFolderName] where try container.status(of: name) != nil {
            try aside.take(name, from: container) { try journal.append(.aside($0)) }
        }
        try container.synchronize()
        return lease
    }

    /// Moves a log or journal that no main file claims out of the way; it would be replayed into the new store.
    private func moveSidecarsAside(_ journal: inout MigrationJournal) throws {
        if SeededBug.sidecarLeftInPlace.isMade { return }
        let (container, new) = (context.container, context.new)
        let orphans = try new.sidecarNames
            .compactMap { name in try container.status(of: name).map { (name, $0) } }
        try requireVacancy()
        guard !orphans.isEmpty else { return }
        // What takes its time comes before the look that counts: a store that is made here gets a log of its own.
        _ = try aside.open { try journal.append(.aside($0)) }
        for (name, orphan) in orphans {
            try requireVacancy()
            guard let status = try container.status(of: name) else { continue }
            // One that is made anew may get the number of the one that is gone, though not its times.
            guard status == orphan else { throw DestinationAppeared(path: new.path) }
            let isOrphan = try aside.take(name, from: container, onCreate: { _ in }) == orphan.identity
            // Whoever makes a store uses the index that is there, where a log is made anew; it harms nobody.
            let isInUse = try name == new.sharedMemoryName && container.status(of: new.name) != nil
            guard isOrphan, !isInUse else {
                try aside.putBackLast()
                throw DestinationAppeared(path: new.path)
            }
        }
        try container.synchronize()
    }

    private func requireVacancy() throws {
        guard try context.container.status(of: context.new.name) == nil else {
            throw DestinationAppeared(path: context.new.path)
        }
    }
}
