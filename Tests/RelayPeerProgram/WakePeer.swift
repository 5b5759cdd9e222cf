import ChangeRelay
import Glibc
import SafeFiles
import StoreAccess
import Synchronization

/// Posts and receives notifications.
final class WakePeer: Peer {
    private let notification: RemoteChangeNotification
    private let heard = HeardCount()
    private let observation = Mutex<RemoteChangeObservation?>(nil)

    init(_ store: StoreLocation) throws { notification = try RemoteChangeNotification(beside: store) }

    func answer(_ words: [String]) throws -> String {
        switch words.first {
        case "post":
            for _ in 0..<(words.dropFirst().first.flatMap { Int($0) } ?? 1) { try notification.post() }
            return "ok"
        case "listen":
            let begun = notification.observe { [heard] in heard.hear() }
            observation.withLock { $0 = begun }
            return "ok"
        case "cancel":
            observation.withLock { $0?.cancel() }
            observation.withLock { $0 = nil }
            return "ok"
        case "heard": return "\(heard.value)"
        case "wait":
            return heard.wait(for: words.dropFirst().first.flatMap { Int($0) } ?? 1) ? "\(heard.value)" : "late"
        // The number of folders that this process watches.
        case "watches":
            let names = try Directory.open(path: "/proc/self/fd").entries()
            let count = names.count { name in
                var target = [CChar](repeating: 0, count: 64)
                let length = readlink("/proc/self/fd/" + name, &target, target.count)
                return length > 0
                    && String(decoding: target.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
                        == "anon_inode:inotify"
            }
            return "\(count)"
        default: throw UnknownCommand()
        }
    }
}
