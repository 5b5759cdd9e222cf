import ChangeRelay
import StoreAccess
import StoreFormat
import Synchronization

/// Posts to the relay beside a store, or drains it as one consumer.
final class QueuePeer: Peer {
    private let queue: RelayQueue
    private let consumer: RelayConsumer?

    init(_ store: StoreLocation, consumer name: String?) throws {
        let queue = try RelayQueue(beside: store, lockTimeout: .seconds(120))
        consumer = try name.map { try RelayConsumer($0, of: queue) }
        self.queue = queue
    }

    func answer(_ words: [String]) throws -> String {
        switch words.first {
        // `post WRITER FROM TO` reports each number once it is in the queue.
        case "post":
            guard words.count == 4, let first = Int64(words[2]), let last = Int64(words[3]) else {
                throw UnknownCommand()
            }
            for number in stride(from: first, through: last, by: 1) {
                try queue.post(
                    ChangeNotice(
                        key: .init(writer: words[1], number: number),
                        content: .objects([
                            .updated: [ObjectURI(storeUUID: "U", entity: "Habit", primaryKey: number)]
                        ])
                    )
                )
                say("posted \(number)")
            }
            return "done"
        // Reports every notice, then acknowledges it.
        case "drain":
            guard let consumer else { throw UnknownCommand() }
            while true {
                let batch = try consumer.next(limit: 97)
                if batch.isEmpty { return "done" }
                if batch.needsFullRefresh { say("refresh") }
                for posted in batch.notices { say("\(posted.notice.key.writer) \(posted.notice.key.number)") }
                try consumer.acknowledge(batch)
            }
        default: throw UnknownCommand()
        }
    }
}
