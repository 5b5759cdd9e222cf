import SystemPackage

/// Errors for a user who cannot assign a file to a group, or for a group that is not mapped in this container.
///
/// The file then keeps its group.
private func isTolerated(_ error: FileError) -> Bool { error.errno == .notPermitted || error.errno == .invalidArgument }

extension Directory {
    /// Sets the group; if the user is not a member of it, the folder keeps its group.
    package func setGroupIfAllowed(_ group: UInt32) throws(FileError) {
        // A group that is not mapped in this container can be inherited from a folder, but not set.
        guard try status().group != group else { return }
        do {
            try setOwner(user: nil, group: group)
        } catch {
            guard isTolerated(error) else { throw error }
        }
    }
}

extension Directory {
    /// The mode with the set-group-ID bit of this folder.
    ///
    /// The kernel sets the bit on new subfolders, and a later change of mode would clear it.
    package func inheriting(_ mode: UInt32) throws(FileError) -> UInt32 { mode | (try status().mode & 0o2000) }
}

extension DurableFile {
    /// Sets the group; if the user is not a member of it, the file keeps its group.
    package func setGroupIfAllowed(_ group: UInt32) throws(FileError) {
        guard try status().group != group else { return }
        do {
            try setOwner(user: nil, group: group)
        } catch {
            guard isTolerated(error) else { throw error }
        }
    }
}
