public import FoundationEssentials
package import SafeFiles
public import StoreAccess
public import StoreFormat

/// An archive that contains a backup.
public struct BackupArchive: BlockingCalls {
    public let url: URL
    private let monitor: WorkMonitor

    /// Names the archive at `url` without reading it.
    public init(
        at url: URL,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.init(at: url, monitor: WorkMonitor(onProgress: onProgress, isCancelled: isCancelled))
    }

    package init(at url: URL, monitor: WorkMonitor) {
        self.url = url
        self.monitor = monitor
    }

    /// The archive's manifest; the members are not read.
    public func manifest() throws -> BackupManifest { try ArchiveUnpacker(monitor: monitor).manifest(of: source()) }

    /// Reads the whole archive, unpacks it into a scratch folder and compares its content with its manifest.
    ///
    /// Throws ``BackupError`` when they differ.
    @discardableResult
    public func check() throws -> BackupManifest { try UnpackedBackup(source(), monitor: monitor).manifest }

    /// True when the file begins like an archive, or has the name of one and is not a database.
    ///
    /// Reading the archive reports what is wrong with it.
    public static func isArchive(at url: URL) -> Bool {
        guard let source = try? ArchiveSource(at: url), let start = try? source.peek(16) else { return false }
        if BackupForm(fileName: url.lastPathComponent) != nil {
            return !start.elementsEqual("SQLite format 3\0".utf8)
        }
        guard let reader = try? ArchiveReader(source) else { return false }
        return (try? reader.next())?.name == BackupManifest.memberName
    }

    /// Lends the store in the archive, unpacked into a scratch folder and compared with the manifest, and its inspection.
    ///
    /// The inspection names the store as a file of the archive.
    public func withStore<R>(_ body: (StoreLocation, StoreInspection) throws -> R) throws -> R {
        let unpacked = try UnpackedBackup(source(), listsExternalFiles: true, monitor: monitor)
        let name = unpacked.manifest.store.name
        let place = StoreLocation(folder: StoreLocation(url: url).path, name: name)
        return try body(unpacked.location, unpacked.inspection.archived(at: place))
    }

    /// Unpacks the archive into a scratch folder.
    package func unpacked(in place: String? = nil) throws -> UnpackedBackup {
        try UnpackedBackup(source(), in: place, monitor: monitor)
    }

    private func source() throws -> ArchiveSource { try ArchiveSource(at: url) }
}

/// A backup that was unpacked into a scratch folder and matches its manifest; the folder is removed with this object.
package final class UnpackedBackup {
    private static let prefix = ".store-migrate-unpacked"

    private let scratch: TemporaryDirectory
    package let manifest: BackupManifest
    /// The store's inspection, digest included.
    package let inspection: StoreInspection
    package var folder: Directory { scratch.directory }
    /// The store's location.
    package var location: StoreLocation { manifest.location(in: scratch.directory.path) }

    /// Unpacks into a new folder in `place`, by default in `$TMPDIR`.
    package init(
        _ source: ArchiveSource,
        in place: String? = nil,
        listsExternalFiles: Bool = false,
        monitor: WorkMonitor = .silent,
        operations: any FileSystemOperations = LinuxFileSystem()
    ) throws {
        let scratch = try TemporaryDirectory(prefix: Self.prefix, in: place, operations: operations)
        self.scratch = scratch
        manifest = try ArchiveUnpacker(monitor: monitor).unpack(source, into: scratch.directory)
        let location = manifest.location(in: scratch.directory.path)
        guard location.excessBytes <= 0 else {
            throw BackupError(
                .unsuitable,
                path: location.path,
                "the path is too long for SQLite to open the unpacked store"
            )
        }
        do {
            let inspector = StoreInspector(
                depth: .digest,
                allowsNetworkFileSystem: true,
                listsExternalFiles: listsExternalFiles,
                monitor: monitor
            )
            inspection = try inspector.sound(location)
        } catch let error as UnreadableStore {
            throw BackupError(.refused, path: source.path, "the store in the archive cannot be read (\(error.detail))")
        }
        let digest = inspection.digest?.value ?? ""
        guard BackupManifest.Store(inspection, digest: digest, mode: manifest.store.mode) == manifest.store else {
            throw BackupError(.refused, path: source.path, "the store in the archive does not match its manifest")
        }
    }
}
