import Dispatch
import SafeFiles
import StoreAccess
import StoreFormat
import Synchronization

/// The files of a store as they go into an archive: which, in what order, and with what content.
struct ArchivedFiles: Sendable {
    private let location: StoreLocation
    private let folder: Directory
    private let relay: Directory
    private let external: Directory?
    private let monitor: WorkMonitor
    /// Checked for every piece that is read in place: whether the store is still unchanged.
    private let resting: RestingStore?
    /// The names of the main file and, where there is one, the relay.
    private let fixedNames: [String]
    private let externalNames: NameList

    /// Lists the copy in `folder` of the store at `original`, and the copy of its relay in `relay`.
    init(of original: StoreLocation, in folder: Directory, relay: Directory, monitor: WorkMonitor) throws {
        location = StoreLocation(folder: folder.path, name: original.name)
        self.folder = folder
        self.relay = relay
        self.monitor = monitor
        resting = nil
        external = try ExternalData.open(of: location, in: folder)
        fixedNames = try Self.fixedNames(of: original, relay)
        externalNames = try external?.names() ?? NameList()
        try liftFence()
    }

    /// Lists a store in place, and the copy of its relay in `relay`.
    init(of store: RestingStore, relay: Directory, monitor: WorkMonitor) throws {
        location = store.location
        folder = store.folder
        self.relay = relay
        self.monitor = monitor
        resting = store
        external = store.external
        fixedNames = try Self.fixedNames(of: store.location, relay)
        externalNames = try external?.names() ?? NameList()
    }

    private static func fixedNames(of store: StoreLocation, _ relay: Directory) throws -> [String] {
        try [store.name] + (relay.status(of: store.relayName) == nil ? [] : [store.relayName])
    }

    /// Calls `body` with the members' names, sorted by their bytes.
    private func forEachName(_ body: (String) throws -> Void) throws {
        let prefix = location.supportFolderName + "/" + StoreLocation.externalDataFolderName + "/"
        let fixed = NameList(fixedNames)
        for name in fixed where name.utf8.lexicographicallyPrecedes(prefix.utf8) { try body(name) }
        for name in externalNames { try body(prefix + name) }
        for name in fixed where !name.utf8.lexicographicallyPrecedes(prefix.utf8) { try body(name) }
    }

    /// Opens a member to be read.
    func open(_ name: String) throws -> MemberSource {
        if name == location.name {
            return resting == nil
                ? .file(try folder.openFile(name, for: .reading))
                : .main(try StoreConnection(location, access: .immutable))
        }
        if name == location.relayName { return .file(try relay.openFile(name, for: .reading)) }
        guard let external, let last = name.split(separator: "/").last else {
            throw BackupError(.failed, path: folder.path, "a copied file is gone")
        }
        return .file(try external.openFile(String(last), for: .reading))
    }

    /// Throws when the store was written to while it was read in place: the bytes read so far are unusable.
    func requireUnchanged() throws {
        guard try resting?.looksUnchanged() ?? true else {
            throw StoreError(.changedMeanwhile, path: location.path, "the store was written to while it was read")
        }
    }

    /// Reads the store and returns its manifest; throws where it cannot be read.
    ///
    /// Its rows are hashed by one thread, its bytes by another, which also counts.
    func manifest(mode: UInt32, tool: String) throws -> BackupManifest {
        struct Results {
            var digest: Result<String, any Error>?
            var rest: Result<(inspection: StoreInspection, members: BackupManifest.Members), any Error>?
        }
        let results = Mutex(Results())
        // The wish to stop may be that of a task, which only this thread can see.
        let shared = monitor.sharedByThreads()
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            if number == 0 {
                let digest = Result { try contentDigest(shared) }
                results.withLock { $0.digest = digest }
            } else {
                let rest = Result { (inspection: try inspect(.counts, shared), members: try members(shared)) }
                results.withLock { $0.rest = rest }
            }
        }
        let (rest, digest) = results.withLock { ($0.rest, $0.digest) }
        guard let rest = try rest?.get(), let digest = try digest?.get() else {
            throw BackupError(.failed, path: location.path, "the store was not inspected")
        }
        return BackupManifest(
            tool: tool,
            store: BackupManifest.Store(rest.inspection, digest: digest, mode: mode & 0o666 | 0o600),
            members: rest.members
        )
    }

    private func members(_ monitor: WorkMonitor) throws -> BackupManifest.Members {
        var members = BackupManifest.Members()
        let prefixBytes = location.supportFolderName.utf8.count + StoreLocation.externalDataFolderName.utf8.count + 2
        let (count, bytes) = (
            externalNames.count, externalNames.byteCount + fixedNames.reduce(0) { $0 + $1.utf8.count }
        )
        members.reserveCapacity(count + fixedNames.count, nameBytes: bytes + count * prefixBytes)
        try forEachName { name in
            let (sha256, bytes) = try open(name)
                .hash {
                    try monitor.checkCancellation()
                    try requireUnchanged()
                }
            members.append(BackupManifest.Member(name: name, bytes: bytes, sha256: sha256))
        }
        return members
    }

    private func inspect(_ depth: StoreInspector.Depth, _ monitor: WorkMonitor) throws -> StoreInspection {
        try StoreInspector(depth: depth, allowsNetworkFileSystem: true, listsExternalFiles: false, monitor: monitor)
            .sound(location)
    }

    private func contentDigest(_ monitor: WorkMonitor) throws -> String {
        try StoreReader(allowsNetworkFileSystem: true, monitor: monitor)
            .withView(of: location) { view in
                try StoreDigest(of: view.connection, externalData: view.externalData, monitor: monitor).value
            }
    }

    /// Removes an old store's fence from the copy: a store that is restored from it must be writable.
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
    /// The inspection of a store of our own; any other result is an error.
    func sound(_ location: StoreLocation) throws -> StoreInspection {
        switch try inspect(location) {
        case .store(let inspection): return inspection
        case .unreadable(let store): throw store
        case .absent, .emptyFile, .orphanSidecar:
            throw StoreError(.notADatabase, path: location.path, "the copy contains no store")
        }
    }
}

extension BackupManifest.Store {
    /// Creates the entry from an inspection and a content digest.
    init(_ inspection: StoreInspection, digest: String, mode: UInt32) {
        let hashes = inspection.metadata?.entityVersionHashes ?? [:]
        var model = SHA256()
        for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
            model.update(Array("\(name)\n".utf8))
            model.update(hash)
        }
        self.init(
            name: inspection.location.name,
            kind: inspection.kind,
            uuid: inspection.uuid,
            model: hashes.isEmpty ? nil : model.hexadecimal,
            frameworkVersion: inspection.metadata?.frameworkVersion,
            entities: inspection.kind == .coreData
                ? inspection.entities.map { Count(name: $0.name, objects: $0.objects) }
                : inspection.tables.map { Count(name: $0.name, objects: $0.rows) },
            history: inspection.history,
            digest: digest,
            mode: mode
        )
    }
}

/// Where a member's bytes are read from.
///
/// A file of ours is read as such. The main file of a store in place is read only through SQLite's own handle: closing
/// any other descriptor of it would drop this process's locks on it.
enum MemberSource {
    case file(DurableFile)
    case main(StoreConnection)

    func size() throws -> Int64 {
        switch self {
        case .file(let file): try file.status().size
        case .main(let connection): try connection.size(of: .main)
        }
    }

    /// Fills a buffer from an offset; fewer bytes than it holds are read only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        switch self {
        case .file(let file): return try file.read(into: buffer, at: offset)
        case .main(let connection):
            if try connection.read(.main, into: buffer, at: offset) { return buffer.count }
            return Int(max(0, min(Int64(buffer.count), try connection.size(of: .main) - offset)))
        }
    }

    /// Reads all of it through one buffer, and returns the digest and the number of the bytes.
    func hash(_ check: () throws -> Void) throws -> (sha256: String, bytes: Int64) {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { piece.deallocate() }
        var hash = SHA256()
        var offset: Int64 = 0
        while true {
            try check()
            let count = try read(into: piece, at: offset)
            hash.update(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += Int64(count)
            if count < piece.count { return (hash.hexadecimal, offset) }
        }
    }
}
