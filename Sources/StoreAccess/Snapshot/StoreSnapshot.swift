package import SafeFiles

/// A copy of a live store's main file that is updated while writers continue, and completed under the write lock.
///
/// The order of calls is ``copy(monitor:)``, ``settle()``, ``catchUp(monitor:)``, and, while another connection holds
/// the write lock, ``complete(under:)``. All reading goes through SQLite's own file handles: no other descriptor of the
/// live store is opened or closed, so no lock is released.
package protocol StoreSnapshot: AnyObject {
    /// Copies the main file without a lock.
    func copy(monitor: WorkMonitor) throws

    /// Updates the copy without a lock; true if it then equals the state that the source connection reads.
    ///
    /// In write-ahead-log mode the source stays pinned to that state, and the copy is consistent even if false is
    /// returned. In rollback mode the copy is consistent only if this returns true.
    func settle() throws -> Bool

    /// Updates the copy as far as possible without a lock, and returns whether pages changed.
    func catchUp(monitor: WorkMonitor) throws -> Bool

    /// Completes the copy while `locked` holds the write lock, makes both sides durable, and returns whether pages
    /// changed.
    ///
    /// Afterwards the copy equals the store as `locked` sees it.
    func complete(under locked: StoreConnection) throws -> Bool

    /// True if the copy is a committed state even while writers are active.
    var isConsistentUnderWriters: Bool { get }
}

/// A snapshot of a store that this user can only read, taken from a view of it.
///
/// Such a store cannot be locked; its token proves that it was not written while it was copied.
package final class StillSnapshot: StoreSnapshot {
    private let view: StoreView
    private let target: DurableFile
    private let isDurable: Bool

    package let isConsistentUnderWriters = false

    /// Prepares to copy the store of `view` into `target`, an empty file; flushes it unless `isDurable` is false.
    ///
    /// The view must not be one of ``StoreReader/read(_:_:)``, whose main file lacks the pages in the log.
    package init(view: StoreView, target: DurableFile, isDurable: Bool = true) {
        precondition(view.kind != .unlocked, "the pages in the log would be missing in the copy")
        (self.view, self.target, self.isDurable) = (view, target, isDurable)
    }

    package func copy(monitor: WorkMonitor) throws {
        if view.kind == .privateCopy {
            // Checkpoints the log of the view's own copy; the header keeps the journal mode.
            _ = try view.connection.value("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try view.connection.copyMainFile(to: target, monitor: monitor)
        if isDurable { try target.synchronize() }
    }

    package func settle() -> Bool { true }

    package func catchUp(monitor: WorkMonitor) throws -> Bool {
        guard try view.folder.token(of: view.connection.location.name) == view.token || view.kind == .privateCopy else {
            throw StoreError(
                .changedMeanwhile,
                path: view.connection.location.path,
                "the store was written to while it was copied"
            )
        }
        return false
    }

    package func complete(under locked: StoreConnection) -> Bool { false }
}

/// A snapshot of a store in rollback-journal mode.
///
/// A read transaction during the copy would block every commit. So the bytes are copied without a lock, then compared
/// page by page under the write lock, where differing pages are patched.
package final class RollbackSnapshot: StoreSnapshot {
    private static let chunk = 1 << 20

    private let source: StoreConnection
    private let target: DurableFile
    /// Reads the source's token; equal tokens before and after the copy prove that nothing was committed meanwhile.
    private let token: () throws -> FileToken
    private var isSettled = false

    package let isConsistentUnderWriters = false

    /// Prepares to copy the store that `source` has open into `target`, an empty file.
    package init(source: StoreConnection, target: DurableFile, token: @escaping () throws -> FileToken) {
        self.source = source
        self.target = target
        self.token = token
    }

    package func copy(monitor: WorkMonitor) throws {
        // The first read rolls a hot journal back; without it, bytes that were never committed would be copied.
        try source.beginReading()
        source.rollback()
        let before = try token()
        try source.copyMainFile(to: target, monitor: monitor)
        try target.synchronize()
        isSettled = try token() == before && !hasJournal(before)
    }

    package func settle() -> Bool { isSettled }

    /// Does nothing: changes are found under the lock.
    package func catchUp(monitor: WorkMonitor) -> Bool { false }

    package func complete(under locked: StoreConnection) throws -> Bool {
        let size = try locked.size(of: .main)
        var isChanged = try target.status().size != size
        try target.truncate(to: size)
        var ours = [UInt8](repeating: 0, count: Self.chunk)
        var theirs = [UInt8](repeating: 0, count: Self.chunk)
        var offset: Int64 = 0
        while offset < size {
            let count = Int(min(Int64(Self.chunk), size - offset))
            try theirs.withUnsafeMutableBytes { buffer in
                _ = try locked.read(.main, into: UnsafeMutableRawBufferPointer(rebasing: buffer[0..<count]), at: offset)
            }
            let read = try ours.withUnsafeMutableBytes { buffer in
                try target.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[0..<count]), at: offset)
            }
            let isEqual =
                read == count
                && ours.withUnsafeBytes { left in
                    theirs.withUnsafeBytes { right in left.startsEqual(to: right, count: count) }
                }
            if !isEqual {
                isChanged = true
                try theirs.withUnsafeBytes { buffer in
                    try target.write(UnsafeRawBufferPointer(rebasing: buffer[0..<count]), at: offset)
                }
            }
            offset += Int64(count)
        }
        try locked.synchronize(.main)
        if isChanged { try target.synchronize() }
        return isChanged
    }

    private func hasJournal(_ token: FileToken) -> Bool { (token.journal?.size ?? 0) > 0 }
}
