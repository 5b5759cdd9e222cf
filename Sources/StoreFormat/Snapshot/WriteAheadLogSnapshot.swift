package import SafeFiles

/// A snapshot of a store in write-ahead-log mode.
///
/// A read transaction of the source connection keeps the log from being reset; the main file's bytes are copied as they
/// are, and the committed frames of the log are replayed over them: without a lock in rounds, and under the lock only
/// the last few.
package final class WriteAheadLogSnapshot: StoreSnapshot {
    /// Rounds that bring fewer frames than this are followed by no other: the rest is as quick under the lock.
    private static let smallRound = 64
    private static let mostRounds = 32
    private static let mostPins = 4

    private let source: StoreConnection
    private let target: DurableFile
    private let pageSize: Int
    private var log: WriteAheadLogReader
    private var isSynchronized = false

    package let isConsistentUnderWriters = true

    /// Prepares to copy the store that `source` has open into `target`, an empty file.
    package init(source: StoreConnection, target: DurableFile, pageSize: Int) {
        self.source = source
        self.target = target
        self.pageSize = pageSize
        log = WriteAheadLogReader(source: source, pageSize: pageSize)
    }

    package func copy(monitor: WorkMonitor) throws {
        try source.beginReading()
        try source.copyMainFile(to: target, monitor: monitor)
        for _ in 0..<Self.mostRounds {
            try monitor.checkCancellation()
            if try replay() <= Self.smallRound { break }
            try source.synchronize(.journal)
        }
        try target.synchronize()
    }

    package func settle() throws -> Bool {
        for _ in 0..<Self.mostPins {
            try repin()
            // Commits between the last replay and the pin would be seen by the source and be missing in the copy; a
            // round that brings nothing proves that there were none.
            if try replay() == 0 {
                try truncate()
                try target.synchronize()
                return true
            }
        }
        try truncate()
        try target.synchronize()
        return false
    }

    package func complete(under locked: StoreConnection) throws -> Bool {
        let frames = try replay()
        if frames > 0 {
            try truncate()
            try target.synchronize()
        }
        // Writers with synchronous=NORMAL have not made their frames durable; the copy must never be newer than the
        // durable old store, or a merge would read the difference as deletions.
        if locked.isOpen(.journal), try locked.size(of: .journal) > 0 { try locked.synchronize(.journal) }
        try repin()
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
        return try log.deliver { [target] page, bytes in
            try target.write(bytes, at: (Int64(page) - 1) * pageSize)
        }
    }

    private func truncate() throws {
        guard let pages = log.position?.pageCount else { return }
        try target.truncate(to: pages * Int64(pageSize))
    }
}
