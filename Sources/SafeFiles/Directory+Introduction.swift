import SystemPackage

extension Directory {
    private static let nursery = ".store-migrate-new"

    /// Creates a file in a hidden folder, then durably gives it its name here; false if the name exists already.
    ///
    /// `make` creates the file under the same name in a given folder, and closes it. So no process finds a half-written
    /// file, even after a crash. No descriptor of the file is closed once it is visible: that would release the SQLite
    /// locks that another thread holds on it. The file gets the group that it would have got here.
    package func introduce(_ name: String, _ make: (Directory) throws -> Void) throws -> Bool {
        removeUnintroduced()
        let temporary = try TemporaryDirectory(prefix: Self.nursery, in: path, operations: operations)
        defer { temporary.remove() }
        let handsGroupOn: UInt32 = 0o2000
        if try status().mode & handsGroupOn != 0 { try temporary.directory.setMode(0o700 | handsGroupOn) }
        try make(temporary.directory)
        do throws(FileError) {
            try temporary.directory.move(name, to: name, in: self)
        } catch {
            guard error.errno == .fileExists else { throw error }
            return false
        }
        temporary.remove()
        try synchronize()
        return true
    }

    /// True if a name exists.
    ///
    /// Also removes the second, hidden name that a power cut may leave.
    package func isIntroduced(_ name: String) throws(FileError) -> Bool {
        guard let status = try status(of: name) else { return false }
        if status.linkCount > 1 { removeUnintroduced() }
        return true
    }

    /// True for the name of such a leftover, or of a file that is being introduced.
    package static func isUnintroduced(_ name: String) -> Bool { name.hasPrefix(nursery) }

    /// Removes the leftovers of processes that were killed while they introduced a file.
    package func removeUnintroduced() { TemporaryDirectory.removeAbandoned(prefix: Self.nursery, in: self) }
}
