import ChangeRelay
import FoundationEssentials
import Glibc
import SafeFiles
import StoreAccess
import TestSupport
import Testing

/// Writers and consumers in processes of their own that are killed at random.
///
/// `STORE_MIGRATE_SOAK` is the number of notices; 100,000 takes some minutes.
@Suite("The relay under kill -9", .verify)
struct RelaySoakTests {
    private static let writers = 8
    private static let consumers = ["app", "widget", "watch"]
    private static let roundsPerWriter = 10

    private static var notices: Int {
        getenv("STORE_MIGRATE_SOAK").flatMap { Int(String(cString: $0)) } ?? 1_600
    }

    /// What one writer has acknowledged.
    fileprivate struct Writer {
        let name: String
        var process: StoreWriterProcess
        var acknowledged: Int64 = 0
    }

    /// What one consumer has reported, across kills.
    private struct Consumer {
        let name: String
        var process: StoreWriterProcess
        var seen: [String: [Int64]] = [:]
        var refreshes = 0

        /// Reads the consumer's reports until it is done; false when it died before.
        mutating func listen() -> Bool {
            while let line = process.nextLine() {
                if line == "done" { return true }
                let words = line.split(separator: " ")
                if line == "refresh" { refreshes += 1 }
                guard words.count == 2, let number = Int64(words[1]) else { continue }
                seen[String(words[0]), default: []].append(number)
            }
            return false
        }
    }

    @Test("Each consumer sees every notice, in order per writer, once after deduplication, and the files stay small")
    func soak() throws {
        var random = SystemRandomNumberGenerator()
        let scratch = try ScratchFolder()
        let store = try scratch.makeStore("CREATE TABLE t (x)")
        func peer(_ rest: [String] = []) throws -> StoreWriterProcess {
            try StoreWriterProcess(program: "relay-peer", ["queue", store.path] + rest)
        }
        let queue = try RelayQueue(beside: store, lockTimeout: .seconds(120))
        var consumers = try Self.consumers.map { Consumer(name: $0, process: try peer([$0])) }
        var writers = try (0..<Self.writers).map { Writer(name: "w\($0)", process: try peer()) }
        let perRound = Int64(max(2, Self.notices / Self.writers / Self.roundsPerWriter))
        var largest: Int64 = 0
        for round in 1...Int64(Self.roundsPerWriter) {
            let target = round * perRound
            for writer in writers {
                try writer.process.say("post \(writer.name) \(writer.acknowledged + 1) \(target)")
            }
            // Consumers drain meanwhile, and one of each kind dies.
            for consumer in consumers { try consumer.process.say("drain") }
            let doomed = writers.indices.randomElement(using: &random) ?? 0
            for _ in 0..<Int.random(in: 0..<Int(perRound), using: &random) {
                guard let line = writers[doomed].process.nextLine(), line != "done" else { break }
                writers[doomed].note(line)
            }
            writers[doomed].process.killNow()
            let doomedConsumer = consumers.indices.randomElement(using: &random) ?? 0
            consumers[doomedConsumer].process.killNow()
            for index in writers.indices {
                while let line = writers[index].process.nextLine(), line != "done" { writers[index].note(line) }
            }
            // A killed writer does not know whether its last post was committed, so it posts again.
            writers[doomed].process = try peer()
            try writers[doomed].process.say("post w\(doomed) \(writers[doomed].acknowledged + 1) \(target)")
            while let line = writers[doomed].process.nextLine(), line != "done" { writers[doomed].note(line) }
            #expect(writers.allSatisfy { $0.acknowledged == target })

            for index in consumers.indices {
                let isDone = consumers[index].listen()
                #expect(isDone || index == doomedConsumer)
            }
            consumers[doomedConsumer].process = try peer([consumers[doomedConsumer].name])
            for index in consumers.indices {
                try consumers[index].process.say("drain")
                let isDone = consumers[index].listen()
                #expect(isDone)
            }
            let files = [queue.location.name, queue.location.writeAheadLogName]
            largest = max(largest, try files.reduce(0) { try $0 + (scratch.directory.status(of: $1)?.size ?? 0) })
        }
        let expected = Array(1...(perRound * Int64(Self.roundsPerWriter)))
        for consumer in consumers {
            #expect(consumer.refreshes == 0)
            #expect(consumer.seen.count == Self.writers)
            for (writer, numbers) in consumer.seen {
                var known: Set<Int64> = []
                let once = numbers.filter { known.insert($0).inserted }
                #expect(once == expected, "\(consumer.name) of \(writer)")
            }
        }
        #expect(try queue.notices(after: 0).isEmpty)
        // One round's notices and the WAL, not all notices of the test.
        #expect(largest <= 16 << 20 + Int64(Self.writers) * perRound * 512)
    }
}

extension RelaySoakTests.Writer {
    fileprivate mutating func note(_ line: String) {
        let words = line.split(separator: " ")
        if words.count == 2, words[0] == "posted", let number = Int64(words[1]) { acknowledged = number }
    }
}
