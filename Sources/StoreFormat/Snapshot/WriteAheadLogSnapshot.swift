package import SafeFiles

/// A snapshot of a store in write-ahead-log mode.
///
/// A read transaction that is held from the first byte to the last keeps the log from being reset, so that no frame is
/// missed; the main file's bytes are copied as they are, and the committed frames of the log are replayed over them:
/// without a lock in rounds, and under the lock only the last few.
package final class WriteAheadLogSnapshot: StoreSnapshot {
    /// Rounds that bring fewer frames than this are followed by no other: the rest is as quick under the lock.
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
    /// `holder` is another connection to the same store, which does nothing but hold the log while `source` is pinned anew.
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
            // Writers that are faster than we are would never let us arrive; the lock stops them.
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
            // What readers are told of is the same before and after the pin, and it is what was replayed: the pinned
            // state is the copy's. A commit that lies in the log but was not told to readers yet shows as a difference.
            let before = try source.logExtent()
            try repin()
            let after = try source.logExtent()
            isSettled = before == after && isDelivered(after)
        }
        try truncate()
        try target.synchronize()
        return isSettled
    }

    /// True when `extent` is what was replayed; a log that holds nothing has nothing to replay.
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
                "the log does not hold what its index says; let the store's program close it first"
            )
        }
        if frames > 0 {
            try truncate()
            try target.synchronize()
        }
        // Writers with synchronous=NORMAL have not made their frames durable; the copy must never be newer than the
        // durable old store, or a merge would read the difference as deletions.
        try locked.synchronizeLog()
        try repin()
        holder.rollback()
        pin = nil
        return frames > 0
    }

    /// Where the copy stands in the log.
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
    /// Makes the write-ahead log durable, if there is one that holds anything.
    fileprivate func synchronizeLog() throws {
        guard try isOpen(.journal) && size(of: .journal) > 0 else { return }
        try synchronize(.journal)
    }
}
