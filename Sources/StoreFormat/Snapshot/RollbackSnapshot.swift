package import SafeFiles

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
