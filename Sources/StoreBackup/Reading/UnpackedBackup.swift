package import SafeFiles
package import StoreFormat

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
