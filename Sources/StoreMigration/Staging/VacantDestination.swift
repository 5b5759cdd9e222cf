import SafeFiles
import StoreAccess
import SystemPackage

/// A destination without a main file: the commit point is the rename of the copy's main file.
///
/// An unreadable main file is first moved, under a lease, to the displaced files.
final class VacantDestination: CopyDestination {
    private let context: RunContext
    private let aside: DisplacedFiles
    private let clears: Bool
    private(set) var placed: PlacedStore?

    /// A vacant destination, or, with `clears`, one with an unreadable file.
    init(_ context: RunContext, clears: Bool = false) {
        self.context = context
        self.clears = clears
        aside = DisplacedFiles(for: context.transaction, in: context.container)
    }

    func publish(
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
            migratedDigest: copy.migration?.digest,
            size: status.size,
            modified: status.modified
        )
        try journal.append(.publishing(publication))

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
        // From here on nothing is rolled back.
        placed = PlacedStore(identity: identity)
        placed?.token = try context.container.token(of: context.new.name)
        try context.container.synchronize()
        try journal.append(.published(identity))
    }

    func tidy(after copy: StagedCopy) {}

    /// Displaces the main file and the folder of external files; the lease ensures that no process has the file open.
    private func moveStoreAside(_ journal: inout MigrationJournal) throws -> FileLease? {
        let (name, container) = (context.new.name, context.container)
        guard let status = try container.status(of: name) else { return nil }
        guard let lease = try FileLease.acquire(on: name, in: container, deadline: context.lockDeadline()),
            try container.status(of: name)?.identity == status.identity, lease.isIntact()
        else {
            let holders = OpenFiles.holders(of: status.identity).map(String.init).joined(separator: ", ")
            throw MigrationError(
                .busy,
                "cannot displace the store: it is open\(holders.isEmpty ? "" : " in process \(holders)")",
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

    /// Displaces a log or journal without a main file; SQLite would replay it into the new store.
    private func moveSidecarsAside(_ journal: inout MigrationJournal) throws {
        let (container, new) = (context.container, context.new)
        let orphans = try new.sidecarNames
            .compactMap { name in try container.status(of: name).map { (name, $0) } }
        try requireVacancy()
        guard !orphans.isEmpty else { return }
        // The folder is created before the check that counts: a store created here gets its own log.
        _ = try aside.open { try journal.append(.aside($0)) }
        for (name, orphan) in orphans {
            try requireVacancy()
            guard let status = try container.status(of: name) else { continue }
            // Inode numbers are reused; the timestamps distinguish a recreated file.
            guard status == orphan else { throw DestinationAppeared(path: new.path) }
            let isOrphan = try aside.take(name, from: container, onCreate: { _ in }) == orphan.identity
            // A process that creates a store now uses the existing index, so it must go back; a log is recreated.
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
