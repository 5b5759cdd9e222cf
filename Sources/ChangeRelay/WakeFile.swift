import SafeFiles
import StoreFormat
import Synchronization
import SystemPackage

/// The file beside a store in which every process that saved counts one up: `.<name>.wake`.
///
/// A process knows how often it counted itself, and so how often others did: no clock takes part, and no process takes its
/// own posts for somebody else's. Whoever is killed has counted or has not, and leaves nothing behind that is in the way.
final class WakeFile: Sendable {
    /// What there is to see of others.
    enum Sight: Hashable {
        /// Nobody else has posted.
        case nothing
        /// The file's identity, which changes when it has to be made anew, and how often others have posted.
        case posts(epoch: UInt64, count: UInt64)
        /// Something is there that nobody can make sense of; the next post makes it anew.
        case unreadable
    }

    /// What this process did to one file.
    private final class Record: Sendable {
        struct Own {
            /// How often it posted, by the file's identity.
            var counts: [UInt64: UInt64] = [:]
            /// The files that it made where there was nothing.
            var made: Set<UInt64> = []
        }

        let own = Mutex(Own())
    }

    private struct Place: Hashable {
        let folder: FileIdentity
        let name: String
    }

    private static let records = Mutex<[Place: Record]>([:])
    /// A post is not worth waiting longer for: the store itself tells of the save too.
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

    /// Counts one up, for all others to see.
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
                if bytes.isEmpty {
                    own.made.insert(content.epoch)
                    // Whoever made the file, and counted nothing, may have left more.
                    folder.removeUnintroduced()
                }
            }
            content.count &+= 1
            try content.bytes.withUnsafeBytes { try lock.file.write($0, at: 0) }
            let size = Int64(WakeContent.size)
            if try lock.file.status().size > size { try lock.file.truncate(to: size) }
            own.counts[content.epoch, default: 0] &+= 1
        }
    }

    /// Looks, and leaves no trace that would wake anybody.
    func look() throws -> Sight {
        for _ in 0..<3 {
            if let sight = try record.own.withLock({ try look($0) }) { return sight }
        }
        return .unreadable
    }

    private func look(_ own: Record.Own) throws -> Sight? {
        guard try folder.status(of: name) != nil else { return .nothing }
        // Whatever somebody put behind it is none of ours, and no reason to hear nothing.
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
