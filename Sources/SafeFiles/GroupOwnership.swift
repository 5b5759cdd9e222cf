import SystemPackage

/// What the kernel refuses where a user may not give a file to a group, or where the group has no number in this
/// container; the file then keeps the group that it has.
private func isTolerated(_ error: FileError) -> Bool { error.errno == .notPermitted || error.errno == .invalidArgument }

extension Directory {
    /// Sets the group; a user who is not a member of it may not, and the folder then keeps the group that it has.
    package func setGroupIfAllowed(_ group: UInt32) throws(FileError) {
        // A group that has no number in this container can be had from a folder, and not be set.
        guard try status().group != group else { return }
        do {
            try setOwner(user: nil, group: group)
        } catch {
            guard isTolerated(error) else { throw error }
        }
    }
}

extension Directory {
    /// The mode with the bit that makes a folder hand its group down, where this one does: the kernel gives it to what is
    /// made here, and a mode that is set afterwards takes it away.
    package func inheriting(_ mode: UInt32) throws(FileError) -> UInt32 { mode | (try status().mode & 0o2000) }
}

extension DurableFile {
    /// Sets the group; a user who is not a member of it may not, and the file then keeps the group that it has.
    package func setGroupIfAllowed(_ group: UInt32) throws(FileError) {
        guard try status().group != group else { return }
        do {
            try setOwner(user: nil, group: group)
        } catch {
            guard isTolerated(error) else { throw error }
        }
    }
}
