import SystemPackage

extension Directory {
    private static let nursery = ".store-migrate-new"

    /// Has a file made out of sight, and gives it its name here, durably; false when something has that name first.
    ///
    /// `make` is given a folder in which it makes the file, under the same name, and closes it. So nobody ever finds half
    /// of it, whoever is killed, and no descriptor of it is closed once it can be found: that would drop the locks that
    /// another thread, through SQLite, has taken on it meanwhile. It gets the group that it would have got here.
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

    /// True when something has a name; a file that a power cut left with the name under which it was made, too, loses that.
    package func isIntroduced(_ name: String) throws(FileError) -> Bool {
        guard let status = try status(of: name) else { return false }
        if status.linkCount > 1 { removeUnintroduced() }
        return true
    }

    /// Removes what processes left here that were killed while they introduced a file.
    package func removeUnintroduced() { TemporaryDirectory.removeAbandoned(prefix: Self.nursery, in: self) }
}
