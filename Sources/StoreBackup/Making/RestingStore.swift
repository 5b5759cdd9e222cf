import SafeFiles
import StoreFormat
import SystemPackage

/// A store without writers, which can be archived in place, without a copy.
///
/// Its token shows at the end whether it stayed unchanged, as for every store that is read in place. A log or journal
/// with content needs a copy, and so does a fence, which is not archived.
struct RestingStore: Sendable {
    let location: StoreLocation
    let folder: Directory
    let external: Directory?
    /// The main file's permission bits.
    let mode: UInt32
    private let token: FileToken
    /// A digest of the names and states of the external files.
    private let externalFiles: String

    /// Nil where a copy is needed; making the copy also reports what is wrong with the store.
    init?(at location: StoreLocation, allowsNetworkFileSystem: Bool) throws {
        folder = try VettedFile.folder(of: location)
        self.location = location
        guard try allowsNetworkFileSystem || !folder.isOnNetworkFileSystem() else { return nil }
        token = try folder.token(of: location.name)
        guard let main = token.main, main.size > 0, !token.hasUnfinishedWork,
            let status = try folder.status(of: location.name), FileToken.Entry(status) == main
        else { return nil }
        mode = status.mode
        // A lock means that a writer is active: waiting is pointless.
        let inspector = StoreInspector(
            depth: .layout,
            lockTimeout: .zero,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            listsExternalFiles: false
        )
        guard let inspection = try? inspector.inspect(location).inspection, inspection.fence == nil else { return nil }
        external = try ExternalData.open(of: location, in: folder)
        guard let files = try Self.fingerprint(of: external) else { return nil }
        externalFiles = files
    }

    /// True when main file, log and journal show no write since this was made.
    ///
    /// Cheap enough to call often: it does not read the external files.
    func looksUnchanged() throws -> Bool { try folder.token(of: location.name) == token }

    /// True when nothing was written to it or its external files since this was made.
    func isUnchanged() throws -> Bool { try looksUnchanged() && Self.fingerprint(of: external) == externalFiles }

    /// A digest of the status of every file in a folder; nil when an entry is not a regular file.
    private static func fingerprint(of folder: Directory?) throws -> String? {
        guard let folder else { return "" }
        var hash = SHA256()
        for name in try folder.names() {
            guard let status = try folder.status(of: name), status.kind == .regular else { return nil }
            let numbers = [
                Int64(bitPattern: status.identity.inode), status.size, status.modified.seconds,
                status.modified.nanoseconds, status.changed.seconds, status.changed.nanoseconds,
            ]
            // No name contains a zero byte.
            Array(name.utf8 + [0]).withUnsafeBytes { hash.update($0) }
            numbers.withUnsafeBytes { hash.update($0) }
        }
        return hash.hexadecimal
    }
}
