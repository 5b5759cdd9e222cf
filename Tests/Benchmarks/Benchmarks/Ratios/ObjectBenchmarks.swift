import Benchmark
import Foundation
import ManagedObjects
import StoreFormat
import Synchronization

/// The number of objects at the current scale.
private func scaled(_ count: Int) -> Int { max(10, Int(Double(count) * SampleStore.scale)) }

private func request(_ format: String? = nil) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest(entityName: "Thing", predicate: try format.map { try FetchPredicate(format: $0) })
    request.sortDescriptors = [.init(keyPath: "number")]
    request.returnsObjectsAsFaults = false
    return request
}

/// Fetches everything into a context, which retains it.
private func fetchAll(_ context: isolated ManagedObjectContext) throws {
    context.userInfo["held"] = try context.fetch(request())
}

/// The notification of a save in which another context changed every tenth thing.
private func changeTenth(_ context: ManagedObjectContext) throws -> ContextDidSave? {
    let saved = Mutex<ContextDidSave?>(nil)
    let observation = context.onDidSave { notice in saved.withLock { $0 = notice } }
    defer { observation.cancel() }
    try context.performAndWait { context in
        for thing in try context.fetch(request("weight >= 0")) {
            guard let number = try thing.value(Int64.self, forKey: "number"), number % 10 == 0 else { continue }
            try thing.setValue("renamed \(number)", forKey: "name")
        }
        try context.save()
    }
    return saved.withLock { $0 }
}

/// The cost of the runtime, against code that does the same without it, in the same run.
func objectBenchmarks() {
    fetchBenchmarks()
    typedFetchBenchmark()
    mergeBenchmarks()
    saveBenchmarks()
    memoryBenchmarks()
    remedyBenchmarks()
}

private func fetchBenchmarks() {
    Benchmark(
        "Fetching 100,000 objects",
        configuration: configuration([ratio, ours, peers], iterations: 10)
    ) { (benchmark: Benchmark, store: ObjectStore) in
        let (records, other) = try ThingRecord.all(in: store.url)
        let container = try store.reopened()
        defer { container.close() }
        let own = try container.viewContext.performAndWait { context in try time { try fetchAll(context) } }
        let names = try container.viewContext.performAndWait { context in
            let objects = context.userInfo["held"] as? [ManagedObject] ?? []
            return try objects.map { try $0.value(String.self, forKey: "name") }
        }
        guard names == records.map(\.name), !names.isEmpty else { return benchmark.error("the rows differ") }
        benchmark.record(ours: own, peers: other)
    } setup: {
        try ObjectStore(things: scaled(100_000))
    }
}

/// Measures a typed fetch and four properties of each object, against a fetch by name and `value(forKey:)`.
private func typedFetchBenchmark() {
    Benchmark(
        "Fetching and reading 100,000 typed objects",
        configuration: configuration([ratio, ours, peers], iterations: 10)
    ) { (benchmark: Benchmark, store: ObjectStore) in
        func measured(
            _ read: @Sendable (isolated ManagedObjectContext) throws -> Int64
        ) throws -> (sum: Int64, time: Duration) {
            let container = try store.reopened()
            defer { container.close() }
            return try container.viewContext.performAndWait { context in
                var sum: Int64 = 0
                let duration = try time { sum = try read(context) }
                return (sum, duration)
            }
        }
        let byName = try measured { context in
            var sum: Int64 = 0
            for thing in try context.fetch(request()) {
                if case .integer(let number) = try thing.value(forKey: "number") { sum += number }
                if case .string(let name) = try thing.value(forKey: "name") { sum += Int64(name.utf8.count) }
                if case .boolean(true) = try thing.value(forKey: "isEven") { sum += 1 }
                if case .real(let weight) = try thing.value(forKey: "weight"), weight > 0 { sum += 1 }
            }
            return sum
        }
        let typed = try measured { context in
            var request = FetchRequest<Thing>(sortDescriptors: [.init(\.number)])
            request.returnsObjectsAsFaults = false
            var sum: Int64 = 0
            for thing in try context.fetch(request) {
                sum += thing.number ?? 0
                sum += Int64(thing.name?.utf8.count ?? 0)
                sum += thing.isEven == true ? 1 : 0
                sum += thing.weight ?? 0 > 0 ? 1 : 0
            }
            return sum
        }
        guard typed.sum == byName.sum, typed.sum > 0 else { return benchmark.error("the values differ") }
        benchmark.record(ours: typed.time, peers: byName.time)
    } setup: {
        try ObjectStore(things: scaled(100_000))
    }
}

/// Measures a merge of a tenth of the objects, against refetching all of them.
private func mergeBenchmark(
    _ name: String,
    savedBy writer: @escaping @Sendable (ObjectStore) throws -> ManagedObjectContext,
    _ merge: @escaping @Sendable (ContextDidSave, ManagedObjectContext) async throws -> Void,
    againstRereading isRereading: Bool
) {
    Benchmark(name, configuration: configuration([ratio, ours, peers], iterations: 5)) { benchmark in
        let store = try ObjectStore(things: scaled(100_000))
        defer { store.remove() }
        let context = store.container.viewContext
        try context.performAndWait { try fetchAll($0) }
        guard let notice = try changeTenth(writer(store)) else { return benchmark.error("nothing was saved") }
        let clock = ContinuousClock()
        let start = clock.now
        try await merge(notice, context)
        let own = start.duration(to: clock.now)
        let other = try context.performAndWait { context in
            try time {
                if isRereading { context.stalenessInterval = 0 }
                try context.refreshAllObjects()
                context.stalenessInterval = -1
                try fetchAll(context)
            }
        }
        benchmark.record(ours: own, peers: other)
    }
}

private func mergeBenchmarks() {
    mergeBenchmark(
        "Merging 10,000 changes into 100,000 objects",
        savedBy: { $0.container.newBackgroundContext() },
        { notice, context in
            try await context.perform { try $0.mergeChanges(fromContextDidSave: notice) }
        },
        againstRereading: false
    )
    mergeBenchmark(
        "Merging 10,000 changes of another process into 100,000 objects",
        savedBy: { try $0.reopened().viewContext },
        { notice, context in
            try await ManagedObjectContext.mergeChanges(fromRemoteContextSave: notice.objectIDs, into: [context])
        },
        againstRereading: true
    )
}

private func saveBenchmarks() {
    for tracksHistory in [false, true] {
        Benchmark(
            "Saving 10,000 new objects" + (tracksHistory ? ", with history" : ""),
            configuration: configuration([ratio, ours, peers], iterations: 10)
        ) { benchmark in
            let count = scaled(10_000)
            let (store, other) = (
                try ObjectStore(things: 1000, tracksHistory: tracksHistory),
                try ObjectStore(things: 1000, tracksHistory: tracksHistory)
            )
            defer {
                store.remove()
                other.remove()
            }
            let own = try store.container.newBackgroundContext()
                .performAndWait { context in
                    try ThingValues.insert(count, into: context)
                    return try time { try context.save() }
                }
            other.container.close()
            let raw = try RawSave(other.url)
            defer { raw.close() }
            let things = (0..<count).map(ThingValues.init)
            let peer = try time { try raw.insert(things, tracksHistory: tracksHistory) }
            benchmark.record(ours: own, peers: peer)
        }
    }
}

private func memoryBenchmarks() {
    Benchmark("Memory of a fault", configuration: configuration([bytes], iterations: 1)) { benchmark in
        let store = try ObjectStore(things: scaled(100_000))
        defer { store.remove() }
        let taken = try store.container.viewContext.performAndWait { context in
            let ids = try context.fetchObjectIDs(request())
            let before = AllocatedMemory.bytes
            context.userInfo["held"] = try ids.map { try context.object(with: $0) }
            return AllocatedMemory.bytes - before
        }
        benchmark.measurement(bytes, taken / scaled(100_000))
    }

    Benchmark("Memory of an object with its row", configuration: configuration([bytes], iterations: 1)) { benchmark in
        let store = try ObjectStore(things: scaled(100_000))
        defer { store.remove() }
        let taken = try store.container.viewContext.performAndWait { context in
            let before = AllocatedMemory.bytes
            try fetchAll(context)
            return AllocatedMemory.bytes - before
        }
        benchmark.measurement(bytes, taken / scaled(100_000))
    }
}
