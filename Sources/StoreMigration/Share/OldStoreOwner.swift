public import FoundationEssentials
import SafeFiles
import StoreFormat

/// The rule that a process started as root acts as the owner of the store it works on.
///
/// Otherwise the store's programs would find files of root's beside it, which they could not open.
public enum OldStoreOwner {
    /// The same for a place where a store will be: where there is none yet, the owner of its folder counts.
    ///
    /// A journal beside it counts for nothing here: whoever put it there would be given what an archive holds that maybe
    /// only root may read.
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

    /// Gives up root for good and becomes the owner of the store's main file; does nothing for other users.
    ///
    /// Where there is no such file, as after it was retired, the owner of its journal counts, and without a journal the
    /// owner of its folder. `stateFolder` is where the journal is, if not beside the store.
    ///
    /// It changes the whole process, so it is for programs, and early in them.
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

    /// The file whose owner counts; what is wrong with the place is said by whoever uses it, in better words.
    private static func owner(of location: StoreLocation, _ stateFolder: URL?) -> FileStatus? {
        // Its journal may lie elsewhere, and outlast the folder.
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
    /// A journal that is not one user's alone gives nobody the right to anything, and is refused later.
    private static func heir(of location: StoreLocation, stateFolder: URL?) -> FileStatus? {
        do {
            let journal = try StateFolder(of: location, stateFolder: stateFolder).ownership()
            let status = try journal.map(\.ofOneUser) ?? Directory.open(path: location.folder).status()
            // Nobody can become a user who has no number here.
            return status.flatMap { UserNamespace.current.hides($0.owner) ? nil : $0 }
        } catch {
            return nil
        }
    }
}
