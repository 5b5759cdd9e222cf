import Foundation
import ManagedObjects

/// A base of many things, and two stores that diverged from it, by ten thousand and by a thousand changes.
struct MergeStores {
    static let changes = 10_000

    let base: URL
    let old: URL
    private let shared: URL

    init(things: Int, tracksHistory: Bool) throws {
        let store = try ObjectStore(things: things, tracksHistory: tracksHistory)
        try Self.change(store.container, 10, from: 1)
        store.container.close()
        try Self.fold(store.url)
        base = store.url
        old = try Self.copy(base)
        shared = try Self.copy(base)
        for (url, count, first) in [(old, Self.changes, 100), (shared, Self.changes / 10, things / 2)] {
            let container = try ObjectStore.open(url, tracksHistory)
            // As an app saves, not all at once.
            for part in 0..<10 { try Self.change(container, count / 10, from: first + part * things / 40) }
            container.close()
            try Self.fold(url)
        }
    }

    /// A copy of the shared store, as the target of a merge.
    func target() throws -> URL { try Self.copy(shared) }

    func remove() {
        for url in [base, old, shared] { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    }

    private static func fold(_ url: URL) throws {
        try ChildProcess.run("sqlite3", [url.path, "PRAGMA wal_checkpoint(TRUNCATE)"])
    }

    private static func copy(_ url: URL) throws -> URL {
        let copy = try SampleStore.emptyFolder().appending(path: url.lastPathComponent)
        try FileManager.default.copyItem(at: url, to: copy)
        return copy
    }

    /// Saves once: a fifth are insertions, a tenth deletions, all others changes.
    private static func change(_ container: PersistentContainer, _ count: Int, from first: Int) throws {
        try container.newBackgroundContext()
            .performAndWait { context in
                var request = FetchRequest(entityName: "Thing")
                request.predicate = try FetchPredicate(
                    format: "number >= %@ AND number < %@",
                    first,
                    first + count * 4 / 5
                )
                for (index, thing) in try context.fetch(request).enumerated() {
                    if index % 8 == 0 {
                        try context.delete(thing)
                    } else {
                        try thing.setValue("changed \(index)", forKey: "note")
                    }
                }
                for index in 0..<count / 5 {
                    let thing = try context.insertNewObject(forEntityName: "Thing")
                    try thing.setValue("new \(index)", forKey: "name")
                }
                try context.save()
            }
    }
}
