package import SafeFiles
internal import Synchronization

/// A snapshot of a store in write-ahead-log mode.
///
/// A read transaction during the whole copy prevents a reset of the log, so that no frame is missed. The main file's
/// bytes are copied unchanged, and the committed frames of the log are replayed over them: in rounds without a lock,
/// and only the last few under the lock.
package final class WriteAheadLogSnapshot: StoreSnapshot {
    /// A round with fewer frames than this is the last one: the rest is as quick under the lock.
    private static let smallRound = 64
    private static let mostRounds = 32
    private static let mostPins = 4

    private let source: StoreConnection
    private let holder: StoreConnection
    private let target: DurableFile
    private let pageSize: Int
    private var log: WriteAheadLogReader
    private var pin: LogPin?
    package let isConsistentUnderWriters = true

    /// Prepares to copy the store that `source` has open into `target`, an empty file.
    ///
    /// `holder` is another connection to the same store, which only prevents a log reset while `source` is pinned
    /// again.
    package init(source: StoreConnection, holder: StoreConnection, target: DurableFile, pageSize: Int) {
        self.source = source
        self.holder = holder
        self.target = target
        self.pageSize = pageSize
        log = WriteAheadLogReader(source: source, pageSize: pageSize)
    }

    package func copy(monitor: WorkMonitor) throws {
        pin = LogPin(on: source.location)
        try holder.beginReading()
        try source.beginReading()
        try source.copyMainFile(to: target, monitor: monitor)
        try target.synchronize()
        _ = try catchUp(monitor: monitor)
    }

    package func catchUp(monitor: WorkMonitor) throws -> Bool {
        var former = Int.max
        var isChanged = false
        for _ in 0..<Self.mostRounds {
            try monitor.checkCancellation()
            let frames = try replay()
            isChanged = isChanged || frames > 0
            try source.synchronizeLog()
            // If writers are faster than this copy, only the lock stops them.
            if frames <= Self.smallRound || frames >= former { break }
            former = frames
        }
        if isChanged {
            try truncate()
            try target.synchronize()
        }
        return isChanged
    }

    package func settle() throws -> Bool {
        var isSettled = false
        for _ in 0..<Self.mostPins where !isSettled {
            _ = try replay()
            // The index's extent is the same before and after the pin, and equals the replayed part: so the pinned
            // state is the copy's. A commit in the log that is not in the index yet shows as a difference.
            let before = try source.logExtent()
            try repin()
            let after = try source.logExtent()
            isSettled = before == after && isDelivered(after)
        }
        try truncate()
        try target.synchronize()
        return isSettled
    }

    /// True if `extent` equals the replayed part; an empty log has nothing to replay.
    private func isDelivered(_ extent: WriteAheadLogExtent?) -> Bool {
        guard let extent else { return false }
        return extent.frames == 0 || extent == log.position?.extent
    }

    package func complete(under locked: StoreConnection) throws -> Bool {
        let frames = try replay()
        guard isDelivered(try locked.logExtent()) else {
            throw StoreError(
                .changedMeanwhile,
                path: locked.location.path,
                "the log does not match its index; close the store in its program first"
            )
        }
        if frames > 0 {
            try truncate()
            try target.synchronize()
        }
        // Frames of writers with synchronous=NORMAL may not be durable. The copy must never be newer than the durable
        // old store, or a merge would read the difference as deletions.
        try locked.synchronizeLog()
        try repin()
        holder.rollback()
        pin = nil
        return frames > 0
    }

    /// The copy's position in the log.
    package var position: WriteAheadLogReader.Position? { log.position }

    private func repin() throws {
        source.rollback()
        try source.beginReading()
    }

    private func replay() throws -> Int {
        let pageSize = Int64(pageSize)
        let extent = try source.logExtent()
        return try log.deliver(upTo: extent) { [target] page, bytes in
            try target.write(bytes, at: (Int64(page) - 1) * pageSize)
        }
    }

    private func truncate() throws {
        guard let pages = log.position?.pageCount else { return }
        try target.truncate(to: pages * Int64(pageSize))
    }
}

extension StoreConnection {
    /// Flushes the write-ahead log with fsync, if it is not empty.
    fileprivate func synchronizeLog() throws {
        guard try isOpen(.journal) && size(of: .journal) > 0 else { return }
        try synchronize(.journal)
    }
}
