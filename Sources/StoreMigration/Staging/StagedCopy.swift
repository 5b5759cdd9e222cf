import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification

/// The copy of an old store: built in the staging folder, proved, and completed under the old store's lock.
final class StagedCopy {
    let context: RunContext
    let staging: StagingFolder
    private let snapshot: any StoreSnapshot
    /// The connection that reads the old store, pinned to the copied snapshot if the journal mode allows it.
    let source: StoreConnection
    private let ownsSource: Bool
    /// True for a copy that replaces the content of its own source: the external files stay where they are.
    private let isInPlace: Bool
    let journalMode: StoreHeader.JournalMode
    private(set) var main: DurableFile
    let external: StagedExternalFiles
    /// The location of the staged main file.
    private(set) var location: StoreLocation
    /// The migrated copy of the staged main file; nil before ``migrate(to:)``, and once the staged file has changed since.
    var migration: MigratedCopy?
    /// True if the copy is a committed state of the old store; a copy made while programs write may not be, in rollback mode.
    private(set) var isConsistent = false
    /// The proof from before the lock; nil when writers left no quiet interval.
    private(set) var proof: StoreProof?
    /// True once the copy changed after it was proved.
    private(set) var changedSinceProof = false
    /// The external files that no row refers to since the copy was migrated; nil for a copy that was not.
    private(set) var orphanedFiles: [String]?
    private var isTreated = false
    private var isProvedForRoles = false

    /// Opens the old store and prepares its copy in the staging folder; reads from `view` if the old store is
    /// read-only.
    init(
        _ context: RunContext,
        staging: StagingFolder,
        mode: UInt32,
        view: StoreView? = nil,
        isInPlace: Bool = false
    ) throws {
        self.isInPlace = isInPlace
        self.context = context
        self.staging = staging
        ownsSource = view == nil
        source = try view?.connection ?? context.openOldStore()
        location = StoreLocation(folder: staging.folder.path, name: context.new.name)
        main = try staging.folder.createFile(context.new.name, mode: mode)
        try main.setGroupIfAllowed(context.group)
        external = try StagedExternalFiles(
            source: isInPlace ? nil : context.oldFolder.externalData(of: context.old),
            staging: staging.folder,
            group: context.group
        )
        journalMode = try OldStoreSnapshot.journalMode(of: source)
        if let view {
            // A transaction of the store makes the content durable that replaces the store's own.
            snapshot = StillSnapshot(view: view, target: main, isDurable: !isInPlace)
        } else {
            snapshot = try OldStoreSnapshot.make(context, source: source, target: main)
        }
    }

    /// Records that the main file was migrated and proved again; its content differs from the source's from then on.
    func recordMigration(orphanedFiles: [String], _ proof: StoreProof) {
        self.orphanedFiles = orphanedFiles
        self.proof = proof
        changedSinceProof = false
    }

    /// The size of the staged main file and external files.
    func byteCount() throws -> Int64 { try main.status().size + external.bytes }

    /// Copies without a lock.
    func build() throws {
        try requireSpace()
        try snapshot.copy(monitor: context.monitor)
        try external.update(monitor: context.monitor)
    }

    /// Proves the copy without a lock, if writers leave a quiet interval.
    ///
    /// Throws ``MigrationError`` with the outcome `verificationFailed` when the copy is wrong.
    func prove() throws {
        let isSettled = try snapshot.settle()
        isConsistent = isSettled || snapshot.isConsistentUnderWriters
        guard isConsistent else { return }
        try proveAsDescribed(withContent: isSettled)
    }

    /// Proves the copy with its descriptions applied, and reverts them afterwards.
    private func proveAsDescribed(withContent: Bool) throws {
        // A copy that is migrated gets its descriptions afterwards.
        guard let described = context.described, context.target == nil else {
            return try prove(withContent: withContent)
        }
        let treatment = try StagedTreatment(described.treatment, to: location, main: main)
        // Modes and groups stay: the staging folder is private, and writers of the old store change neither.
        try FileRights(described.treatment).apply(to: main)
        try prove(withContent: withContent)
        try proveForRoles(described)
        try treatment.takeBack(from: main)
    }

    /// Applies the descriptions to the completed copy for good; does nothing without a strategy.
    func treat() throws {
        guard let described = context.described else { return }
        let rights = FileRights(described.treatment)
        if migration == nil {
            _ = try StagedTreatment(described.treatment, to: location, main: main)
            isTreated = true
            try rights.apply(to: main)
            if !isProvedForRoles || changedSinceProof { try proveForRoles(described) }
        }
        guard described.treatment.changesRights else { return }
        try main.synchronize()
        try external.give(rights)
    }

    private func proveForRoles(_ described: DescribedStore) throws {
        try RoleProof(described: described, place: context.new).require(at: location, in: staging.folder, main: main)
        isProvedForRoles = true
    }

    /// Proves the completed copy again if it changed since its proof; it has no writers any more.
    func proveCompleted() throws {
        guard changedSinceProof || proof == nil || proof?.digest == nil && context.settings.level >= .content else {
            return
        }
        try proveAsDescribed(withContent: true)
        changedSinceProof = false
    }

    private func prove(withContent: Bool) throws {
        let image = try StoreConnection(location, access: .immutable)
        let externalData = try stagedExternalFolder()
        let content: StoreProver.Content =
            if !withContent || context.settings.level < .content {
                .nothing
            } else if journalMode == .wal {
                .comparison(original: source, differingFiles: external.differingFiles)
            } else {
                // A long read of the original would block its writers; its bytes are compared under the lock.
                .digest
            }
        let probe = context.target == nil ? context.mergeProbe : nil
        proof = try StoreProver(level: context.settings.level, probe: probe, monitor: context.monitor)
            .prove(
                image,
                at: location,
                as: context.new,
                externalData: externalData,
                comparingWith: source,
                content: content,
                externalFiles: externalData.flatMap {
                    try StoreDigest.digest(ofFilesIn: $0, monitor: context.monitor)
                },
                leavingOut: context.target == nil ? context.addedHistory : nil
            )
        try image.close()
    }

    /// Closes the connection to the old store.
    func closeSource() throws {
        guard ownsSource else { return }
        source.rollback()
        try source.close()
    }

    /// Copies what writers changed, so that the lock is held briefly.
    func catchUp() throws {
        let isPatched = try snapshot.catchUp(monitor: context.monitor)
        let isExternalChanged = try external.update(monitor: context.monitor)
        changedSinceProof = isPatched || isExternalChanged
        if changedSinceProof { migration = nil }
    }

    /// Completes the copy while `lock` holds the old store's write lock, and makes it durable.
    func complete(under lock: StoreConnection) throws {
        let isPatched = try snapshot.complete(under: lock)
        let isExternalChanged = try external.update(monitor: .silent)
        changedSinceProof = changedSinceProof || isPatched || isExternalChanged
        isConsistent = true
        if isPatched || isExternalChanged { migration = nil }
        try staging.folder.synchronize()
    }

    /// The old store's content digest as it was proved, unless the copy changed since.
    var provedDigest: String? { migration?.sourceDigest ?? (changedSinceProof ? nil : proof?.digest?.value) }

    /// Makes the migrated copy the staged main file; call it when the copy is complete.
    func adopt(_ migration: MigratedCopy) throws {
        try main.close()
        (main, location) = (migration.main, migration.location)
        try external.discard(migration.result.orphanedFiles)
    }

    /// The content digest of the completed copy, taken again if it changed since its proof.
    ///
    /// It equals the old store's: history tables that only the copy has are left out.
    func contentDigest() throws -> String {
        if let provedDigest { return provedDigest }
        let image = try StoreConnection(location, access: .immutable)
        let digest = try StoreDigest(of: image, externalData: stagedExternalFolder(), monitor: .silent)
        guard isTreated, let added = context.addedHistory else { return digest.value }
        return try digest.leavingOutHistory(added, of: image).value
    }

    /// The digest of the completed copy's rows, without external files.
    func rowDigest() throws -> String {
        let image = try StoreConnection(location, access: .immutable)
        return try StoreDigest(of: image, externalFiles: nil).value
    }

    /// Renames the main file into place; fails with `fileExists` when the name is taken.
    func publishMain(into container: Directory, as name: String) throws {
        try staging.folder.move(location.name, to: name, in: container)
    }

    func stagedExternalFolder() throws -> Directory? {
        try staging.folder.status(of: StagingFolder.externalName) == nil
            ? nil : staging.folder.openDirectory(StagingFolder.externalName)
    }

    /// Throws when the container's file system lacks room for the copy plus a fifth.
    private func requireSpace() throws {
        let main = try source.size(of: .main) + (source.isOpen(.journal) ? source.size(of: .journal) : 0)
        let isBaseBeside = context.settings.treatment == .capture && context.surroundings.stateFolder == nil
        // The migrated copy has its tables twice for a time, and a journal.
        let copies: Int64 = (isBaseBeside ? 2 : 1) + (context.target == nil ? 0 : 3)
        let needed = try main * copies + external.sourceBytes()
        let free = try context.container.freeBytes()
        guard free > needed / 5 * 6 else {
            throw MigrationError(
                .noSpace,
                "the copy needs \(needed / 5 * 6) bytes and \(free) are free",
                path: context.new.folder
            )
        }
    }
}
