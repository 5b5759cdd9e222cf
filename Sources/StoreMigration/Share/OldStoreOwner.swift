public import FoundationEssentials
import SafeFiles
import StoreFormat

/// The rule that a process started as root acts as the owner of the store it works on.
///
/// Otherwise the store's programs would find files of root's beside it, which they could not open.
public enum OldStoreOwner {
    /// The same for a place where a store will be: where there is none yet, the owner of its folder counts.
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

    /// Gives up root for good and becomes the owner of the store's main file; does nothing for other users, and where
    /// there is no such file.
    ///
    /// It changes the whole process, so it is for programs, and early in them.
    public static func become(_ url: URL) throws(MigrationError) {
        guard ProcessIdentity.effectiveUser == 0 else { return }
        let location = StoreLocation(url: url)
        do {
            // What is wrong with the place is said by whoever uses it, in better words.
            guard let folder = try? Directory.open(path: location.folder),
                let status = try? folder.status(of: location.name), status.kind == .regular
            else { return }
            try ProcessIdentity.becomeOwner(of: status)
        } catch {
            throw MigrationError(error)
        }
    }
}
