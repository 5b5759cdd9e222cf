package import SafeFiles

/// A snapshot of a store that this user can only read, taken from a view of it.
///
/// Such a store cannot be locked; its token proves that it was not written while it was copied.
package final class StillSnapshot: StoreSnapshot {
    private let view: StoreView
    private let target: DurableFile
    private let isDurable: Bool

    package let isConsistentUnderWriters = false

    /// Prepares to copy the store of `view` into `target`, an empty file; flushes it unless `isDurable` is false.
    package init(view: StoreView, target: DurableFile, isDurable: Bool = true) {
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
