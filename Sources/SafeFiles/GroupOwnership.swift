import SystemPackage

extension Directory {
    /// Sets the group; a user who is not a member of it may not, and the folder then keeps the user's own.
    package func setGroupIfAllowed(_ group: UInt32) throws(FileError) {
        do {
            try setOwner(user: nil, group: group)
        } catch {
            guard error.errno == .notPermitted else { throw error }
        }
    }
}

extension Directory {
    /// The mode with the bit that makes a folder hand its group down, where this one does: the kernel gives it to what is
    /// made here, and a mode that is set afterwards takes it away.
    package func inheriting(_ mode: UInt32) throws(FileError) -> UInt32 { mode | (try status().mode & 0o2000) }
}

extension DurableFile {
    /// Sets the group; a user who is not a member of it may not, and the file then keeps the user's own.
    package func setGroupIfAllowed(_ group: UInt32) throws(FileError) {
        do {
            try setOwner(user: nil, group: group)
        } catch {
            guard error.errno == .notPermitted else { throw error }
        }
    }
}
