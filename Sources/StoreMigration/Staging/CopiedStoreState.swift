import SafeFiles
import StoreAccess
import StoreFormat

/// An old store's state when its copy was completed, and the means to detect later commits.
struct CopiedStoreState {
    let reading: TokenReading
    private let lock: StoreConnection?
    /// SQLite's own count of what other connections committed.
    private let dataVersion: Int64?

    /// Records the state while `lock` holds the write lock of the store at `location`.
    init(under lock: StoreConnection, at location: StoreLocation, in folder: Directory) throws {
        self.lock = lock
        reading = try OldStateRecorder.read(location, in: folder)
        dataVersion = try lock.dataVersion()
    }

    /// The state of a store that cannot be locked, as `view` read it.
    init(of view: StoreView) {
        lock = nil
        dataVersion = nil
        // The token's age is unknown; 0 makes later runs read the store instead of trusting the token.
        reading = TokenReading(token: view.token, takenAt: 0)
    }

    /// True when the store's content then was what `inspection` found.
    func isAsInspected(_ inspection: StoreInspection) -> Bool {
        reading.token == inspection.token || reading.token.holdsSameContent(as: inspection.token)
    }

    /// True while no other connection has committed since the lock was held.
    func isUndisturbed() throws -> Bool { try lock?.dataVersion() == dataVersion }

    /// The youngest token for the same content: the current one if no connection committed since the lock was held.
    func youngestReading(of location: StoreLocation, in folder: Directory) throws -> TokenReading {
        // The token is read first: a commit after it changes the count.
        let latest = try OldStateRecorder.read(location, in: folder)
        guard lock != nil, dataVersion != nil, try isUndisturbed() else { return reading }
        return latest
    }
}

extension StoreConnection {
    /// Changes whenever another connection committed something.
    fileprivate func dataVersion() throws -> Int64? { try value("PRAGMA data_version")?.integer }
}
