import ChangeRelay
import SafeFiles
import StoreAccess
import StoreFixtures
import StoreFormat
import TestSupport

/// An untrusted relay: listed, drained, added to, and copied into another.
final class RelayTarget: FuzzTarget {
    static let name = "relay"
    static let mostBytes = 64 << 10
    static let words =
        DatabaseTarget.words + [
            "notice", "consumer", "import", "sequence", "position", "{\"objects\":{\"inserted\":[", "{\"history\":1}",
            "x-coredata://", "\"updated\"", "\"deleted\"", "9223372036854775807",
        ]

    private let folder: Directory
    private let other: Directory
    private let store: StoreLocation
    private let copy: StoreLocation

    init(in folder: Directory) throws {
        self.folder = try folder.createDirectory("store", mode: 0o700)
        other = try folder.createDirectory("copy", mode: 0o700)
        store = StoreLocation(folder: self.folder.path, name: "S.sqlite")
        copy = StoreLocation(folder: other.path, name: "S.sqlite")
    }

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        let store = StoreLocation(folder: source.scratch.path, name: "S.sqlite")
        var seeds: [[UInt8]] = []
        for pageSize in [512, 4096] {
            for count in [0, 1, 40] {
                try source.scratch.put([], store.name)
                seeds.append(try relay(beside: store, in: source.scratch, pageSize: pageSize, notices: count))
                source.scratch.removeContents()
            }
        }
        return seeds
    }

    private static func relay(
        beside store: StoreLocation,
        in folder: Directory,
        pageSize: Int,
        notices: Int
    ) throws -> [UInt8] {
        let relay = StoreLocation(folder: store.folder, name: store.relayName)
        try folder.put([], relay.name)
        let empty = try StoreConnection(relay, access: .privateCopy)
        try empty.execute("PRAGMA page_size=\(pageSize); CREATE TABLE t(c); DROP TABLE t")
        try empty.close()
        try fill(RelayQueue(beside: store), notices)
        // Checkpoints everything into the main file.
        let connection = try StoreConnection(relay, access: .privateCopy)
        try connection.foldLogIn()
        try connection.close()
        return try folder.contents(of: relay.name, limit: 1 << 20)
    }

    private static func fill(_ queue: RelayQueue, _ count: Int) throws {
        let consumer = try RelayConsumer("widget", of: queue)
        for number in 0..<count {
            let uri = try ObjectURI("x-coredata://9A1C1E37-5A2B-4F8E-8B6E-0C1D2E3F4A5B/Book/p\(number + 1)")
            let content: ChangeNotice.Content =
                switch number % 3 {
                case 0: .objects([.inserted: [uri], .updated: [uri, uri]])
                case 1: .history(through: Int64(number))
                default: .everything
                }
            try queue.post(
                ChangeNotice(key: .init(writer: "app", number: Int64(number)), author: "app", content: content)
            )
        }
        if count == 1 { try consumer.acknowledge(consumer.next()) }
    }

    func run(_ bytes: [UInt8]) throws {
        defer {
            folder.removeContents()
            other.removeContents()
        }
        for (folder, place) in [(folder, store), (other, copy)] { try folder.put([], place.name) }
        try folder.put(bytes, store.relayName)
        let carried = Result {
            try RelayQueue(beside: copy, lockTimeout: .zero).carry(from: store)
        }
        guard let queue = try RelayQueue.existing(beside: store, lockTimeout: .zero) else { return }
        _ = try (queue.end(), queue.consumers(), queue.notices(after: 0))
        let consumer = try RelayConsumer("widget", of: queue)
        let batch = try consumer.next(limit: 10)
        try queue.post(ChangeNotice(key: .init(writer: "fuzz", number: 1), content: .everything))
        try consumer.acknowledge(batch)
        try consumer.acknowledge(consumer.next())
        guard try consumer.next().notices.isEmpty else { Fuzzing.fail("an acknowledged notice is delivered again") }
        try consumer.unregister()
        _ = try carried.get()
    }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? {
        PageChanges.changed(bytes, using: &generator)
    }
}
