public import FoundationEssentials
import SafeFiles
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
