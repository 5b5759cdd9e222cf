import Dispatch
import SafeFiles
import StoreFormat
import Synchronization

/// The files of a copied store as they go into an archive: which, in what order, and what they hold.
struct StagedContents: Sendable {
    private let location: StoreLocation
    private let folder: Directory
    private let relay: Directory
    private let external: Directory?
    private let monitor: WorkMonitor
    /// The members' names, sorted by their bytes.
    private let names: [String]

    /// Lists the copy of the store at `original` that lies in `folder`, and that of its relay in `relay`.
    init(of original: StoreLocation, in folder: Directory, relay: Directory, monitor: WorkMonitor) throws {
        location = StoreLocation(folder: folder.path, name: original.name)
        self.folder = folder
        self.relay = relay
        self.monitor = monitor
        external = try ExternalData.open(of: location, in: folder)
        var names = [original.name]
        if try relay.status(of: original.relayName) != nil { names.append(original.relayName) }
        let prefix = original.supportFolderName + "/" + StoreLocation.externalDataFolderName + "/"
        names += try external?.entries().map { prefix + $0 } ?? []
        self.names = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Opens a member's file.
    func open(_ name: String) throws -> DurableFile {
        if name == location.name { return try folder.openFile(name, for: .reading) }
        if name == location.relayName { return try relay.openFile(name, for: .reading) }
        guard let external, let last = name.split(separator: "/").last else {
            throw BackupError(.failed, path: folder.path, "a copied file is gone")
        }
        return try external.openFile(String(last), for: .reading)
    }

    /// Looks at the copy and tells all that the manifest does; throws where the store cannot be read.
    ///
    /// Its rows and its bytes are read at the same time, by two threads.
    func manifest(mode: UInt32, tool: String) throws -> BackupManifest {
        try liftFence()
        let results = Mutex<
            (inspection: Result<StoreInspection, any Error>?, members: Result<[BackupManifest.Member], any Error>?)
        >(
            (nil, nil)
        )
        // The wish to stop may be that of a task, which only this thread can see.
        let shared = monitor.sharedByThreads()
        let work = self
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            if number == 0 {
                let inspection = Result { try work.inspect(.digest, shared) }
                results.withLock { $0.inspection = inspection }
            } else {
                let members = Result { try work.members(shared) }
                results.withLock { $0.members = members }
            }
        }
        let (inspection, members) = results.withLock { ($0.inspection, $0.members) }
        guard let inspection = try inspection?.get(), let members = try members?.get() else {
            throw BackupError(.failed, path: location.path, "the copy was not looked at")
        }
        return BackupManifest(
            tool: tool,
            store: try BackupManifest.Store(inspection, mode: mode & 0o666 | 0o600),
            members: members
        )
    }

    private func members(_ monitor: WorkMonitor) throws -> [BackupManifest.Member] {
        try names.map { name in
            let file = try open(name)
            return BackupManifest.Member(
                name: name,
                bytes: try file.status().size,
                sha256: try FileHash.of(file) { try monitor.checkCancellation() }
            )
        }
    }

    private func inspect(_ depth: StoreInspector.Depth, _ monitor: WorkMonitor) throws -> StoreInspection {
        try StoreInspector(depth: depth, allowsNetworkFileSystem: true, monitor: monitor).sound(location)
    }

    /// Takes the fence of an old place out of the copy: a store that is restored from it is to be written to.
    private func liftFence() throws {
        guard try inspect(.layout, monitor).fence != nil else { return }
        let connection = try StoreConnection(location, access: .privateCopy)
        try connection.beginWriting(deadline: Deadline(after: .seconds(20)))
        try StoreFence.lift(in: connection)
        try connection.commit(deadline: Deadline(after: .seconds(20)))
        _ = try connection.value("PRAGMA wal_checkpoint(TRUNCATE)")
        try connection.close()
        for name in [location.writeAheadLogName, location.journalName] where try folder.status(of: name) != nil {
            try folder.removeFile(name)
        }
    }
}

extension StoreInspector {
    /// The inspection of a store of our own; whatever else is there is an error.
    func sound(_ location: StoreLocation) throws -> StoreInspection {
        switch try inspect(location) {
        case .store(let inspection): return inspection
        case .unreadable(let store): throw store
        case .absent, .emptyFile, .orphanSidecar:
            throw StoreError(.notADatabase, path: location.path, "there is no store in it")
        }
    }
}

extension BackupManifest.Store {
    /// What an inspection with a digest tells of a store.
    init(_ inspection: StoreInspection, mode: UInt32) throws {
        guard let digest = inspection.digest else {
            throw BackupError(.failed, path: inspection.location.path, "its content was not looked at")
        }
        let hashes = inspection.metadata?.entityVersionHashes ?? [:]
        var model = FileHash()
        for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
            Array("\(name)\n".utf8).withUnsafeBytes { model.add($0) }
            hash.withUnsafeBytes { model.add($0) }
        }
        self.init(
            name: inspection.location.name,
            kind: inspection.kind,
            uuid: inspection.uuid,
            model: hashes.isEmpty ? nil : model.finish(),
            frameworkVersion: inspection.metadata?.frameworkVersion,
            entities: inspection.kind == .coreData
                ? inspection.entities.map { Count(name: $0.name, objects: $0.objects) }
                : inspection.tables.map { Count(name: $0.name, objects: $0.rows) },
            history: inspection.history,
            digest: digest.value,
            mode: mode
        )
    }
}
