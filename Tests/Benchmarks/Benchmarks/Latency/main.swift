import Foundation
import ManagedObjects
import StoreFormat
import StoreStrategies

// The latency from a save in one process to the notification in another: `Latency [COUNT]` makes a store in a temporary
// folder, starts itself as the saving process, and prints the median and the 99th percentile, in milliseconds.

/// The time of the clock that all processes share, in nanoseconds.
func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func open(_ path: String, tracksHistory: Bool) throws -> PersistentContainer {
    let model = ManagedObjectModel(entities: [
        EntityDescription(name: "Day", attributes: [AttributeDescription(name: "number", type: .integer64)])
    ])
    var description = PersistentStoreDescription(url: URL(filePath: path))
    description.isHistoryTrackingEnabled = tracksHistory
    description.postsRemoteChangeNotifications = true
    let container = PersistentContainer(
        name: "Latency",
        managedObjectModel: model,
        descriptions: [description],
        viewContextOn: .privateQueue
    )
    try container.loadPersistentStoresAndWait()
    return container
}

/// Saves for each input line, and prints the times of its beginning and end.
func save(_ path: String, tracksHistory: Bool) throws {
    let container = try open(path, tracksHistory: tracksHistory)
    var number: Int64 = 0
    while readLine() != nil {
        number += 1
        let value = number
        let began = now()
        try container.viewContext.performAndWait { context in
            try context.insertNewObject(forEntityName: "Day").setValue(value, forKey: "number")
            try context.save()
        }
        try FileHandle.standardOutput.write(contentsOf: Data("\(began) \(now())\n".utf8))
    }
}

/// Listens, and makes the other process save `count` times, one after the other.
func measure(_ count: Int, tracksHistory: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "latency-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "Days.sqlite").path
    let container = try open(path, tracksHistory: tracksHistory)
    let (heard, continuation) = AsyncStream.makeStream(of: UInt64.self)
    let observation = container.onRemoteChange { continuation.yield(now()) }
    defer { observation.cancel() }

    let (process, input, output) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--save", path] + (tracksHistory ? ["--history"] : [])
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var callbacks = heard.makeAsyncIterator()
    var (fromBegin, fromEnd): ([Double], [Double]) = ([], [])
    for round in 0..<(count + 20) {
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        let times = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
        // A late notification of an earlier save is ignored.
        repeat {
            guard let told = await callbacks.next(), times.count == 2 else { return }
            guard told >= times[0] else { continue }
            // The first saves open files.
            if round >= 20 {
                fromBegin.append(Double(told - times[0]) / 1e6)
                fromEnd.append(Double(Int64(told) - Int64(times[1])) / 1e6)
            }
            break
        } while true
    }
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    func text(_ times: [Double]) -> String {
        let sorted = times.sorted()
        return String(format: "median %.2f ms, 99th %.2f ms", sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
    }
    print(tracksHistory ? "with history:" : "without history:", "\(count) saves")
    print("  from the beginning of the save:", text(fromBegin))
    print("  from its end:                  ", text(fromEnd))
}

if let index = CommandLine.arguments.firstIndex(of: "--save") {
    try save(CommandLine.arguments[index + 1], tracksHistory: CommandLine.arguments.contains("--history"))
} else {
    let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 500
    try await measure(count, tracksHistory: false)
    try await measure(count, tracksHistory: true)
}
