/// A copy of a live store's main file that is brought up to date while writers go on, and completed under their lock.
///
/// The order of calls is ``copy(monitor:)``, ``settle()``, ``catchUp(monitor:)``, and, while another connection holds the write lock,
/// ``complete(under:)``. All reading goes through SQLite's own file handles: nothing of the live store is opened or
/// closed beside SQLite, so none of its locks is dropped.
package protocol StoreSnapshot: AnyObject {
    /// Copies the main file without a lock.
    func copy(monitor: WorkMonitor) throws

    /// Brings the copy up to date without a lock; true when it then equals what the source connection reads.
    ///
    /// In write-ahead-log mode the source stays pinned to that state, and the copy is consistent whatever is returned.
    /// In rollback mode the copy is consistent only when this returns true.
    func settle() throws -> Bool

    /// Brings the copy as close to the store as can be without a lock, and says whether pages changed.
    func catchUp(monitor: WorkMonitor) throws -> Bool

    /// Completes the copy while `locked` holds the write lock, makes both sides durable, and says whether pages changed.
    ///
    /// Afterwards the copy equals the store as `locked` sees it.
    func complete(under locked: StoreConnection) throws -> Bool

    /// True when the copy is a committed state even while writers are at work.
    var isConsistentUnderWriters: Bool { get }
}
