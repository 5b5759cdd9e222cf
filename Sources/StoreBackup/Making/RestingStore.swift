import SafeFiles
import StoreFormat
import SystemPackage

/// A store that nobody writes to, and that an archive can be made of as it lies, without a copy in between.
///
/// That it stayed so is what its token says at the end, as for every store that is read in place; a log or a journal that
/// holds anything, and a fence that is not to be in the archive, take a copy.
struct RestingStore: Sendable {
    let location: StoreLocation
    let folder: Directory
    let external: Directory?
    /// The main file's permission bits.
    let mode: UInt32
    private let token: FileToken
    /// What tells the external files as they are from any others.
    private let externalFiles: String

    /// Nil where a copy is to be made, which also tells what is wrong with the store.
    init?(at location: StoreLocation, allowsNetworkFileSystem: Bool) throws {
        folder = try VettedFile.folder(of: location)
        self.location = location
        guard try allowsNetworkFileSystem || !folder.isOnNetworkFileSystem() else { return nil }
        token = try folder.token(of: location.name)
        guard let main = token.main, main.size > 0, !token.hasUnfinishedWork,
            let status = try folder.status(of: location.name), FileToken.Entry(status) == main
        else { return nil }
        mode = status.mode
        // Whoever holds a lock is at work: there is nothing to wait for.
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

    /// True when nothing was written to it since this was made, as far as its main file, log and journal tell.
    ///
    /// To be asked often, whatever the number of its external files.
    func looksUnchanged() throws -> Bool { try folder.token(of: location.name) == token }

    /// True when nothing was written to it or its external files since this was made.
    func isUnchanged() throws -> Bool { try looksUnchanged() && Self.fingerprint(of: external) == externalFiles }

    /// A digest of the files of a folder as the kernel tells them; nil when one of them is none.
    private static func fingerprint(of folder: Directory?) throws -> String? {
        guard let folder else { return "" }
        var hash = SHA256()
        for name in try folder.names() {
            guard let status = try folder.status(of: name), status.kind == .regular else { return nil }
            let numbers = [
                Int64(bitPattern: status.identity.inode), status.size, status.modified.seconds,
                status.modified.nanoseconds, status.changed.seconds, status.changed.nanoseconds,
            ]
            // No name holds a zero.
            Array(name.utf8 + [0]).withUnsafeBytes { hash.update($0) }
            numbers.withUnsafeBytes { hash.update($0) }
        }
        return hash.hexadecimal
    }
}
