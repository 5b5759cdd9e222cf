import SafeFiles
import StoreFormat

/// An old store at the moment when its copy was completed, and the means to tell whether anybody wrote to it since.
struct LockedMoment {
    let reading: TokenReading
    private let lock: StoreConnection?
    /// SQLite's own count of what other connections committed.
    private let dataVersion: Int64?

    /// Notes the moment while `lock` holds the write lock of the store at `location`.
    init(under lock: StoreConnection, at location: StoreLocation, in folder: Directory) throws {
        self.lock = lock
        reading = try OldStateRecorder.read(location, in: folder)
        dataVersion = try lock.dataVersion()
    }

    /// The moment in which a store that cannot be locked was looked at.
    init(of view: StoreView) {
        lock = nil
        dataVersion = nil
        // Nobody knows how old the token is; such a store is looked at again instead of trusting the clock.
        reading = TokenReading(token: view.token, takenAt: 0)
    }

    /// True when the store held at that moment what `inspection` found in it.
    func isAsInspected(_ inspection: StoreInspection) -> Bool {
        reading.token == inspection.token || reading.token.holdsSameContent(as: inspection.token)
    }

    /// The youngest token that stands for the same content: of now if nobody committed since the lock was held, else of then.
    func youngestReading(of location: StoreLocation, in folder: Directory) throws -> TokenReading {
        // The token comes first: a commit after it shows in the count.
        let latest = try OldStateRecorder.read(location, in: folder)
        guard let lock, let dataVersion, try lock.dataVersion() == dataVersion else { return reading }
        return latest
    }
}

extension StoreConnection {
    /// Changes whenever another connection committed something.
    fileprivate func dataVersion() throws -> Int64? { try value("PRAGMA data_version")?.integer }
}
