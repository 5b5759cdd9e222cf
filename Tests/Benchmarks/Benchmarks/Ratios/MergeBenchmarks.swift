import Benchmark
import Foundation

/// Merges ten thousand late changes; the peer copies every difference, in one direction.
func storeMergeBenchmarks() {
    for (name, tracksHistory) in [("with history", true), ("without history", false)] {
        Benchmark(
            "Merging 10,000 changes into 1 M rows, \(name)",
            configuration: configuration([ratio, ours, peers, memory], iterations: 2)
        ) { (benchmark: Benchmark, stores: MergeStores) in
            let merge = try mergeOnce(stores)
            let target = try stores.target()
            let other = try time {
                try ChildProcess.run(
                    "sh",
                    ["-c", "sqldiff \(target.path) \(stores.old.path) | sqlite3 \(target.path)"]
                )
            }
            benchmark.record(ours: merge.duration, peers: other)
            benchmark.measurement(memory, merge.peakMemory)
        } setup: {
            try MergeStores(things: Int(1_000_000 * SampleStore.scale), tracksHistory: tracksHistory)
        }
    }

    // The time of a merge grows with the changes, not with the store: here the peer is the same merge into a quarter of it.
    Benchmark(
        "Merging 10,000 changes into 4 M rows, with history",
        configuration: configuration([ratio, ours, peers, memory], iterations: 2)
    ) { (benchmark: Benchmark, stores: [MergeStores]) in
        let (small, large) = (try mergeOnce(stores[0]), try mergeOnce(stores[1]))
        benchmark.record(ours: large.duration, peers: small.duration)
        benchmark.measurement(memory, large.peakMemory)
    } setup: {
        try [1_000_000, 4_000_000]
            .map {
                try MergeStores(things: Int($0 * SampleStore.scale), tracksHistory: true)
            }
    }
}

private func mergeOnce(_ stores: MergeStores) throws -> ChildProcess {
    let target = try stores.target()
    defer { try? FileManager.default.removeItem(at: target.deletingLastPathComponent()) }
    let arguments = [target.path, stores.old.path, "--base", stores.base.path, "--level", "files"]
    return try ChildProcess.run(Tool.path, ["merge"] + arguments)
}
