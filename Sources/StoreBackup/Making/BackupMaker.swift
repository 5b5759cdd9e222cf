public import FoundationEssentials
package import SafeFiles
public import StoreAccess
import StoreFormat
import SystemPackage

/// Makes a backup of a store: one self-contained archive, checked before it gets its name.
///
/// The archive is written under a temporary name, read back from the disk and unpacked into a scratch folder. It gets its
/// name only when every file in it equals, byte for byte, what was read from the store, and never replaces a file.
public struct BackupMaker: BlockingCalls {
    private static let scratchPrefix = ".store-migrate-backup"

    private let location: StoreLocation
    private let options: BackupOptions
    private let monitor: WorkMonitor
    private let operations: any FileSystemOperations
    private let limits = ArchiveLimits()

    /// Creates a maker of backups of the store at `store`.
    public init(
        of store: URL,
        options: BackupOptions = BackupOptions(),
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.init(
            of: StoreLocation(url: store),
            options: options,
            monitor: WorkMonitor(onProgress: onProgress, isCancelled: isCancelled)
        )
    }

    /// Creates a maker that makes every kernel call for the archive through `operations`.
    package init(
        of location: StoreLocation,
        options: BackupOptions,
        monitor: WorkMonitor = .silent,
        operations: any FileSystemOperations = LinuxFileSystem()
    ) {
        self.location = location
        self.options = options
        self.monitor = monitor
        self.operations = operations
    }

    /// Makes the archive at `url`, which must not exist.
    @discardableResult
    public func make(at url: URL) throws -> BackupReport {
        let place = StoreLocation(url: url)
        let folder = try Directory.open(path: place.folder, operations: operations)
        let requireFree = { guard try folder.status(of: place.name) == nil else { throw Self.exists(place.path) } }
        return try made(in: folder.path, requireFree) { archive, scratch in
            do {
                try scratch.move(archive, to: place.name, in: folder)
            } catch let error as FileError where error.errno == .fileExists {
                throw Self.exists(place.path)
            }
            try folder.synchronize()
            return place.path
        }
    }

    /// Makes the archive in the folder at `path`, under the first of the names, numbered from 1, that does not exist.
    func make(in path: String, named name: (Int) -> String) throws -> BackupReport {
        let folder = try Directory.open(path: path, operations: operations)
        return try made(in: folder.path, nil) { archive, scratch in
            var number = 1
            while true {
                do {
                    try scratch.move(archive, to: name(number), in: folder)
                    break
                } catch let error as FileError where error.errno == .fileExists {
                    number += 1
                }
            }
            try folder.synchronize()
            return StoreLocation(folder: folder.path, name: name(number)).path
        }
    }

    /// Makes the archive in `$TMPDIR` and passes its bytes on, in order, once it is checked.
    @discardableResult
    public func make(streaming write: (UnsafeRawBufferPointer) throws -> Void) throws -> BackupReport {
        try made(in: nil, nil) { archive, scratch in
            let file = try scratch.openFile(archive, for: .reading)
            let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
            defer { piece.deallocate() }
            var offset: Int64 = 0
            while true {
                let count = try file.read(into: piece, at: offset)
                guard count > 0 else { return "-" }
                try write(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                offset += Int64(count)
            }
        }
    }

    private static func exists(_ path: String) -> BackupError {
        BackupError(.exists, path: path, "the path exists already, and a backup never overwrites a file")
    }

    /// The longest location at which SQLite is asked to open a copy while a store of this name is backed up to `folder`.
    package static func copy(of name: String, in folder: String) -> StoreLocation {
        StoreLocation(
            folder: "\(folder)/\(TemporaryDirectory.longestName(prefix: scratchPrefix))/store",
            name: name
        )
    }

    // MARK: Steps

    /// Removes the leftovers of a killed run in a folder; a run that makes a backup there does so by itself.
    package static func removeRemains(in folder: String) {
        guard let folder = try? Directory.open(path: folder) else { return }
        TemporaryDirectory.removeAbandoned(prefix: scratchPrefix, in: folder)
    }

    /// Makes the archive; `handOver` gives it its name and returns its path.
    private func made(
        in place: String?,
        _ requireFree: (() throws -> Void)?,
        handOver: (_ name: String, _ scratch: Directory) throws -> String
    ) throws -> BackupReport {
        try requireNotOpenHere()
        if let place, let owner = StoreInspector.owner(ofExternalFolder: place) {
            throw BackupError(.unsuitable, path: place, "the folder is among the external files of \(owner.path)")
        }
        let scratch = try TemporaryDirectory(prefix: Self.scratchPrefix, in: place, operations: operations)
        defer { scratch.remove() }
        // After the folder was made, which removes the leftovers of a killed run.
        try requireFree?()
        let spare = try requireSpace(in: scratch.directory)
        var findings: [Finding] = []
        let relay = try scratch.directory.createDirectory("relay", mode: 0o700)
        try stageRelay(in: relay, spare: spare, &findings)
        let name = "archive"
        TriggerPoint.copying.pass()
        let (manifest, bytes) =
            try archivedInPlace(relay: relay, as: name, in: scratch.directory)
            ?? archivedCopy(relay: relay, as: name, in: scratch.directory)
        relay.removeContents()
        try check(name, manifest, in: scratch.directory)
        try monitor.checkCancellation()
        monitor.report(.publishing, 0, of: 1)
        TriggerPoint.publishing.pass()
        let path = try handOver(name, scratch.directory)
        monitor.report(.publishing, 1, of: 1)
        TriggerPoint.published.pass()
        return BackupReport(path: path, bytes: bytes, manifest: manifest, findings: findings)
    }

    /// Archives a store at rest in place; nil where a copy is needed, because the store is not or did not stay at rest.
    private func archivedInPlace(
        relay: Directory,
        as name: String,
        in scratch: Directory
    ) throws -> (manifest: BackupManifest, bytes: Int64)? {
        let network = options.allowsNetworkFileSystem
        guard let store = try RestingStore(at: location, allowsNetworkFileSystem: network) else { return nil }
        let result = Result {
            let contents = try ArchivedFiles(of: store, relay: relay, monitor: monitor)
            return try archived(contents, mode: store.mode, as: name, in: scratch)
        }
        if try store.isUnchanged() { return try result.get() }
        // Unconditionally: bytes of two states may have been read.
        if try scratch.status(of: name) != nil { try scratch.removeFile(name) }
        try monitor.checkCancellation()
        return nil
    }

    private func archivedCopy(
        relay: Directory,
        as name: String,
        in scratch: Directory
    ) throws -> (manifest: BackupManifest, bytes: Int64) {
        let stage = try scratch.createDirectory("store", mode: 0o700)
        defer { stage.removeContents() }
        let mode = try staging(of: location, in: stage).stage()
        let contents = try ArchivedFiles(of: location, in: stage, relay: relay, monitor: monitor)
        return try archived(contents, mode: mode, as: name, in: scratch)
    }

    private func archived(
        _ contents: ArchivedFiles,
        mode: UInt32,
        as name: String,
        in scratch: Directory
    ) throws -> (manifest: BackupManifest, bytes: Int64) {
        let manifest = try contents.manifest(mode: mode, tool: options.tool)
        try manifest.requireSoundNames(limits, path: location.path, .unsuitable, monitor: monitor)
        try contents.requireUnchanged()
        do {
            return (manifest, try write(contents, manifest, to: scratch.createFile(name, mode: 0o600)))
        } catch let error as BackupError where error.code == .tooLarge {
            // It compresses so well that a reader would refuse the archive as a decompression bomb.
            try scratch.removeFile(name)
            let file = try scratch.createFile(name, mode: 0o600)
            return (manifest, try write(contents, manifest, to: file, compressing: false))
        }
    }

    private func staging(of location: StoreLocation, in folder: Directory) -> StoreStaging {
        StoreStaging(
            location: location,
            folder: folder,
            lockTimeout: options.lockTimeout,
            allowsNetworkFileSystem: options.allowsNetworkFileSystem,
            monitor: monitor
        )
    }

    /// Closing any descriptor of a file that this process has open in SQLite would drop its locks.
    private func requireNotOpenHere() throws {
        guard let folder = try? Directory.open(path: location.folder),
            let status = try folder.status(of: location.name),
            status.kind == .regular, try OpenFiles.isOpenInThisProcess(status.identity)
        else { return }
        throw UnreadableStore(
            .openInThisProcess,
            path: location.path,
            detail: "this process has the store open"
        )
    }

    /// Throws when the copy, the archive and its unpacked content do not fit; returns the bytes that remain free.
    private func requireSpace(in scratch: Directory) throws -> Int64 {
        guard let folder = try? Directory.open(path: location.folder) else { return 0 }
        var needed: Int64 = 1 << 20
        for name in [location.name, location.writeAheadLogName] {
            needed += try folder.status(of: name)?.size ?? 0
        }
        if let external = try ExternalData.open(of: location, in: folder) {
            for name in try external.names() { needed += try external.status(of: name)?.size ?? 0 }
        }
        // Twice: the copy is gone before the archive is unpacked, and the archive is seldom larger than either.
        let free = try scratch.freeBytes()
        guard free / 2 >= needed else {
            throw StoreError(
                .noSpace,
                path: scratch.path,
                "\(needed * 2) bytes are needed to make and check the archive"
            )
        }
        return free - needed * 2
    }

    /// Stages the relay; one that cannot be copied, or does not fit twice into `spare` bytes, is a finding, not an error.
    private func stageRelay(in folder: Directory, spare: Int64, _ findings: inout [Finding]) throws {
        let relay = StoreLocation(folder: location.folder, name: location.relayName)
        guard let size = try Directory.open(path: relay.folder).status(of: relay.name)?.size, size > 0 else { return }
        do {
            guard size <= spare / 2 else {
                throw StoreError(.noSpace, path: relay.path, "there is no room for a copy of its \(size) bytes")
            }
            _ = try staging(of: relay, in: folder).stage(withExternalFiles: false)
        } catch let error as StoreError where error.code == .cancelled {
            throw error
        } catch {
            folder.removeContents()
            findings.append(
                Finding(
                    .relayNotBackedUp,
                    .warning,
                    level: .files,
                    "its change notices are not in the backup: \(error)",
                    path: relay.path
                )
            )
        }
    }

    private func write(
        _ contents: ArchivedFiles,
        _ manifest: BackupManifest,
        to file: DurableFile,
        compressing: Bool = true
    ) throws -> Int64 {
        let writer = try ArchiveWriter(to: file, form: options.form, compressing: compressing, limits: limits)
        try write(manifest, to: writer)
        var done: Int64 = 0
        let total = manifest.byteCount
        for member in manifest.members {
            let source = try contents.open(member.name)
            try writer.add(member.name, bytes: member.bytes) { buffer, offset in
                try monitor.checkCancellation()
                monitor.report(.copying, done + offset, of: total)
                return try source.read(into: buffer, at: offset)
            }
            done += member.bytes
        }
        let bytes = try writer.finish()
        // Reading back has to read the disk, not the page cache.
        try file.synchronize()
        try file.discardCachedPages()
        try file.close()
        return bytes
    }

    private func write(_ manifest: BackupManifest, to writer: ArchiveWriter) throws {
        let (checksum, bytes) = try manifest.sealed(monitor)
        guard bytes <= limits.manifestBytes else {
            throw BackupError(.unsuitable, path: location.path, "the store has more files than an archive may contain")
        }
        try writer.add(BackupManifest.memberName, bytes: Int64(bytes)) { put in
            try manifest.write(sealedBy: checksum, monitor) { piece in try piece.withUnsafeBytes(put) }
        }
    }

    private func check(_ name: String, _ manifest: BackupManifest, in scratch: Directory) throws {
        let place = try scratch.createDirectory("check", mode: 0o700)
        let source = try ArchiveSource(scratch.openFile(name, for: .reading))
        let unpacked = try ArchiveUnpacker(limits: limits, monitor: monitor).unpack(source, into: place)
        guard unpacked == manifest else {
            throw BackupError(.damaged, path: source.path, "the archive does not contain what was written")
        }
        place.removeContents()
    }
}

extension Finding.Code {
    /// The change notices beside the store could not be copied into its backup.
    public static let relayNotBackedUp = Finding.Code(rawValue: "relayNotBackedUp")
}

/// The caller's options for a backup.
public struct BackupOptions: Sendable {
    public var form = BackupForm.standard
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false
    /// The name and version of the program, for the manifest.
    public var tool = "store-migrate"

    public init() {}
}

/// The content of a backup that was made and checked.
public struct BackupReport: Sendable {
    /// The archive's absolute path; `-` for a stream.
    public let path: String
    /// The archive's bytes.
    public let bytes: Int64
    public let manifest: BackupManifest
    public let findings: [Finding]
}
