import SafeFiles
import StoreFormat

/// The rule that a process started as root acts as the owner of the store it works on.
///
/// Otherwise the store's programs would find files of root's beside it, which they could not open.
enum OldStoreOwner {
    /// Becomes the owner of the store's main file; does nothing for other users, and where there is no such file.
    static func become(_ location: StoreLocation) throws {
        guard ProcessIdentity.effectiveUser == 0 else { return }
        let status: FileStatus
        do {
            guard let found = try Directory.open(path: location.folder).status(of: location.name) else { return }
            status = found
        } catch {
            return  // The library says what is wrong with the place, in its own words.
        }
        guard status.kind == .regular else { return }
        try ProcessIdentity.becomeOwner(of: status)
    }
}
