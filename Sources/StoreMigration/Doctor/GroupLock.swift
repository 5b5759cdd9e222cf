import SafeFiles
public import StoreAccess

/// A lock that a process holds on a file of a group container.
public struct GroupLock: Sendable, Hashable {
    /// What holds a lock, and on what.
    public enum Purpose: String, Sendable, CaseIterable {
        /// A connection in WAL mode is open; it has no transaction.
        case openConnection
        /// A transaction that reads, or a statement that has rows left.
        case readTransaction
        /// A transaction that writes, or is about to.
        case writeTransaction
        /// The log is copied into the main file.
        case checkpoint
        /// The index of the log is rebuilt.
        case recovery
        /// A lock of a program's own, of any kind, on a file that is none of SQLite's.
        case otherFile
    }

    public let process: Int32
    /// The name of its program; nil if it has ended.
    public let program: String?
    /// When the process started, in seconds since 1970; nil if it has ended.
    ///
    /// The lock is not older. The kernel does not record when a lock was granted.
    public let processStart: Int64?
    /// The path of the locked file, from the folder that was examined.
    public let file: String
    /// The kernel's name of the kind of lock: `flock`, `record`, `openFile` or `lease`.
    public let kind: String
    /// True for a lock to write, which excludes every other one.
    public let isExclusive: Bool
    /// The locked bytes; `Int64.max` stands for the end of the file.
    public let bytes: ClosedRange<Int64>
    public let purpose: Purpose
    /// True if iOS would end the process when it is suspended with this lock (`0xdead10cc`).
    ///
    /// Apple publishes no rule; this is a model of one, made from crash reports: see ``SuspensionCheck``.
    public let endsSuspendedProcess: Bool

    init(_ lock: HeldLock, process: Int32, file: String, isInWALMode: Bool) {
        self.process = process
        program = OpenFiles.program(of: process)
        processStart = OpenFiles.startTime(of: process)
        self.file = file
        kind = lock.kind.rawValue
        isExclusive = lock.isExclusive
        bytes = lock.bytes
        purpose = Self.purpose(of: lock, on: file, isInWALMode: isInWALMode)
        endsSuspendedProcess =
            switch purpose {
            case .openConnection: false
            case .readTransaction: !isInWALMode || lock.isExclusive
            case .writeTransaction, .checkpoint, .recovery, .otherFile: true
            }
    }

    /// True for a lock of SQLite on a main file.
    static func isDatabaseLock(_ lock: HeldLock) -> Bool {
        DatabaseBytes.all.contains(lock.bytes.lowerBound) && DatabaseBytes.all.contains(lock.bytes.upperBound)
    }

    private static func purpose(of lock: HeldLock, on file: String, isInWALMode: Bool) -> Purpose {
        if isDatabaseLock(lock) {
            if lock.isExclusive || lock.bytes.overlaps(DatabaseBytes.pendingAndReserved) { return .writeTransaction }
            return isInWALMode ? .openConnection : .readTransaction
        }
        guard file.hasSuffix("-shm"), SharedMemoryBytes.all.contains(lock.bytes.lowerBound) else { return .otherFile }
        switch lock.bytes.lowerBound {
        case SharedMemoryBytes.write: return lock.isExclusive ? .writeTransaction : .readTransaction
        case SharedMemoryBytes.checkpoint: return .checkpoint
        case SharedMemoryBytes.recovery: return .recovery
        case SharedMemoryBytes.connection: return lock.isExclusive ? .recovery : .openConnection
        default: return .readTransaction
        }
    }

    /// The bytes of the main file that SQLite locks, from its description of the file format.
    enum DatabaseBytes {
        static let first: Int64 = 0x4000_0000
        static let pendingAndReserved = first...first + 1
        static let all = first...first + 511
    }

    /// The bytes of the index of the log that SQLite locks, from its description of the WAL format.
    enum SharedMemoryBytes {
        static let write: Int64 = 120
        static let checkpoint: Int64 = 121
        static let recovery: Int64 = 122
        static let connection: Int64 = 128
        static let all = write...connection
    }
}

extension Finding.Code {
    /// A process that is suspended now would be ended by iOS.
    public static let lockWhileSuspended = Self(rawValue: "lockWhileSuspended")
}
