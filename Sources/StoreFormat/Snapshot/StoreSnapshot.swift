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
