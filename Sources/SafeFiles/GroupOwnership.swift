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
