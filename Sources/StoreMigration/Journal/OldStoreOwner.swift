public import FoundationEssentials
import SafeFiles
import StoreAccess

/// The rule that a process started as root acts as the owner of the store it works on.
///
/// Otherwise root would own files beside the store that its programs cannot open.
public enum OldStoreOwner {
    /// Gives up root for good and becomes the owner of the store's main file; does nothing for other users.
    ///
    /// Without such a file, as after a retirement, the owner of the journal counts, and without a journal the folder's
    /// owner. `stateFolder` is the journal's folder, if not beside the store.
    ///
    /// It changes the whole process, so call it early in a program.
    public static func become(_ url: URL, stateFolder: URL? = nil) throws(MigrationError) {
        guard ProcessIdentity.effectiveUser == 0 else { return }
        let location = StoreLocation(url: url)
        guard let status = owner(of: location, stateFolder) else { return }
        do {
            try ProcessIdentity.becomeOwner(of: status)
        } catch {
            throw MigrationError(error)
        }
    }

    /// Does the same for a destination: without a store there, the folder's owner counts.
    ///
    /// A journal there is ignored: its creator would receive content of an archive that only root may read.
    public static func becomeOwner(ofPlace url: URL) throws(MigrationError) {
        guard ProcessIdentity.effectiveUser == 0 else { return }
        let location = StoreLocation(url: url)
        guard let folder = try? Directory.open(path: location.folder) else { return }
        do {
            try ProcessIdentity.becomeOwner(of: folder.status(of: location.name) ?? folder.status())
        } catch {
            throw MigrationError(error)
        }
    }

    /// The file whose owner counts; nil when the path is unusable, which the later steps report.
    private static func owner(of location: StoreLocation, _ stateFolder: URL?) -> FileStatus? {
        // The journal may be elsewhere and outlast the folder.
        guard let folder = try? Directory.open(path: location.folder) else {
            return heir(of: location, stateFolder: stateFolder)
        }
        do {
            guard let status = try folder.status(of: location.name) else {
                return heir(of: location, stateFolder: stateFolder)
            }
            return status.kind == .regular ? status : nil
        } catch {
            return nil
        }
    }

    /// The file whose owner counts where there is no store.
    ///
    /// A journal with files of several users confers no identity, and is refused later.
    private static func heir(of location: StoreLocation, stateFolder: URL?) -> FileStatus? {
        do {
            let journal = try StateFolder(of: location, stateFolder: stateFolder).ownership()
            let status = try journal.map(\.ofOneUser) ?? Directory.open(path: location.folder).status()
            // A user ID that this user namespace does not map cannot be assumed.
            return status.flatMap { UserNamespace.current.hides($0.owner) ? nil : $0 }
        } catch {
            return nil
        }
    }
}
