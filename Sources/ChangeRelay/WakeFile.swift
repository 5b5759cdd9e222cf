import SafeFiles
import StoreAccess
import Synchronization
import SystemPackage

/// The wake file beside a store, `.<name>.wake`: a counter that every process increments after a save.
///
/// A process subtracts its own posts from the counter and gets the number of other processes' posts, without a clock. A
/// killed process has counted or has not, and blocks no other process.
final class WakeFile: Sendable {
    /// What a process can see of other processes' posts.
    enum Sight: Hashable {
        /// No other process has posted.
        case nothing
        /// The file's identity, which changes when it is recreated, and the number of other processes' posts.
        case posts(epoch: UInt64, count: UInt64)
        /// The content is invalid; the next post rewrites it.
        case unreadable
    }

    /// What this process wrote to one file.
    private final class Record: Sendable {
        struct Own {
            /// The number of its posts, by the file's identity.
            var counts: [UInt64: UInt64] = [:]
            /// The files that it created.
            var made: Set<UInt64> = []
        }

        let own = Mutex(Own())
    }

    private struct Place: Hashable {
        let folder: FileIdentity
        let name: String
    }

    private static let records = Mutex<[Place: Record]>([:])
    /// A longer wait is not worthwhile, because the commit to the store is detected too.
    private static let patience = Duration.seconds(1)

    private let store: String
    let folder: Directory
    let name: String
    private let record: Record

    init(beside store: StoreLocation, in folder: Directory) throws {
        self.store = store.name
        self.folder = folder
        name = store.wakeName
        let place = Place(folder: try folder.status().identity, name: name)
        record = Self.records.withLock { records in
            let record = records[place] ?? Record()
            records[place] = record
            return record
        }
    }

    /// Increments the counter.
    func post() throws {
        try NewRelayFile.createIfAbsent(name, likeStore: store, in: folder)
        guard let lock = try FileLock.acquire(name, in: folder, deadline: Deadline(after: Self.patience)) else {
            throw FileError(operation: "post to", path: name, errno: .resourceTemporarilyUnavailable)
        }
        defer { lock.release() }
        try record.own.withLock { own in
            let bytes = try Self.content(of: lock.file)
            var content: WakeContent
            if let found = WakeContent(bytes) {
                content = found
            } else {
                content = WakeContent()
                if bytes.isEmpty { own.made.insert(content.epoch) }
            }
            content.count &+= 1
            try content.bytes.withUnsafeBytes { try lock.file.write($0, at: 0) }
            let size = Int64(WakeContent.size)
            if try lock.file.status().size > size { try lock.file.truncate(to: size) }
            own.counts[content.epoch, default: 0] &+= 1
        }
    }

    /// Reads the counter without causing an event for other processes.
    func look() throws -> Sight {
        for _ in 0..<3 {
            if let sight = try record.own.withLock({ try look($0) }) { return sight }
        }
        return .unreadable
    }

    private func look(_ own: Record.Own) throws -> Sight? {
        guard try folder.status(of: name) != nil else { return .nothing }
        // Reads only the record: bytes that another program appended must not hide posts.
        let bytes = try Self.content(of: folder.openFile(name, for: .reading))
        if bytes.isEmpty { return .nothing }
        guard let content = WakeContent(bytes) else { return nil }
        let count = content.count &- (own.counts[content.epoch] ?? 0)
        if count == 0, own.made.contains(content.epoch) { return .nothing }
        return .posts(epoch: content.epoch, count: count)
    }

    private static func content(of file: DurableFile) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: WakeContent.size)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}

/// The content of a wake file: its identity, the number of posts, and a checksum that detects torn writes.
struct WakeContent {
    static let size = 32
    private static let signature = Array("SMwake1\n".utf8)

    /// A random number that identifies the file.
    let epoch: UInt64
    var count: UInt64 = 0

    init() { epoch = .random(in: 1...(.max)) }

    /// Reads a file; nil when it is torn or not a wake file.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.size, bytes.starts(with: Self.signature),
            Self.number(bytes[24..<32]) == Self.checksum(bytes[..<24])
        else { return nil }
        epoch = Self.number(bytes[8..<16])
        count = Self.number(bytes[16..<24])
    }

    var bytes: [UInt8] {
        let content = Self.signature + Self.bytes(epoch) + Self.bytes(count)
        return content + Self.bytes(Self.checksum(content[...]))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }

    /// FNV-1a, sufficient to detect a torn write.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
