import Benchmark
import Foundation
import StoreAccess
import StoreMigration
import StoreVerification

/// A store and the path it was shared to.
private struct SharedPair {
    let old: String
    let new: String

    init(megabytes: Int) throws {
        old = try SampleStore.make(megabytes: megabytes).url.path
        new = try SampleStore.emptyFolder().path + "/Habits.sqlite"
        try ChildProcess.run(Tool.path, ["share", old, new])
    }
}

private func writeLockHold(_ name: String, megabytes: Int, _ journalMode: SampleStore.JournalMode, iterations: Int) {
    Benchmark(
        "Write lock held, 8 writers, \(name)",
        configuration: configuration([hold], iterations: iterations)
    ) { benchmark in
        let store = try SampleStore.make(megabytes: megabytes, journalMode)
        let destination = try SampleStore.emptyFolder()
        let writers = try Writers(8, to: store)
        defer {
            store.remove()
            try? FileManager.default.removeItem(at: destination)
        }
        let migrator = StoreMigrator(from: store.url, to: destination.appending(path: "Habits.sqlite"))
        let outcome = Result { try migrator.shareStoreIfNecessaryAndWait() }
        try writers.stop()
        guard let held = try outcome.get().work?.lockHold else { return benchmark.error("no lock was taken") }
        benchmark.measurement(hold, held.microseconds)
    }
}

let benchmarks: @Sendable () -> Void = {
    objectBenchmarks()
    storeMergeBenchmarks()
    migrationBenchmarks()

    Benchmark(
        "Share, 450 MB, all levels",
        configuration: configuration([ratio, ours, peers, memory], iterations: 3)
    ) { benchmark in
        let store = try SampleStore.make(megabytes: 450)
        let (destination, copy) = (try SampleStore.emptyFolder(), try SampleStore.emptyFolder())
        defer {
            store.remove()
            for folder in [destination, copy] { try? FileManager.default.removeItem(at: folder) }
        }
        let backup = copy.appending(path: "Habits.sqlite").path
        let other = try time {
            try ChildProcess.run("sqlite3", [store.url.path, ".backup '\(backup)'"])
            try ChildProcess.run("sqlite3", [backup, "PRAGMA integrity_check"])
            try ChildProcess.run("sqldiff", ["--primarykey", store.url.path, backup])
        }
        let share = try ChildProcess.run(Tool.path, ["share", store.url.path, destination.path + "/Habits.sqlite"])
        benchmark.record(ours: share.duration, peers: other)
        benchmark.measurement(memory, share.peakMemory)
    }

    Benchmark(
        "Backup, 450 MB, read back and unpacked",
        configuration: configuration([ratio, ours, peers, memory], iterations: 3)
    ) { benchmark in
        let store = try SampleStore.make(megabytes: 450)
        let (destination, copy) = (try SampleStore.emptyFolder(), try SampleStore.emptyFolder())
        defer {
            store.remove()
            for folder in [destination, copy] { try? FileManager.default.removeItem(at: folder) }
        }
        let archive = copy.path + "/Habits.tar.zst"
        let other = try time {
            try ChildProcess.run("sqlite3", [store.url.path, ".backup '\(copy.path)/Habits.sqlite'"])
            try ChildProcess.run("tar", ["--zstd", "-cf", archive, "-C", copy.path, "Habits.sqlite"])
            try ChildProcess.run("zstd", ["-q", "-t", archive])
        }
        let backup = try ChildProcess.run(Tool.path, ["backup", store.url.path, "-o", destination.path + "/a.tar.zst"])
        benchmark.record(ours: backup.duration, peers: other)
        benchmark.measurement(memory, backup.peakMemory)
    }

    Benchmark(
        "Share, already shared",
        configuration: configuration([ours], iterations: 20)
    ) { (benchmark: Benchmark, shared: SharedPair) in
        let share = try ChildProcess.run(Tool.path, ["share", shared.old, shared.new])
        benchmark.measurement(ours, share.duration.milliseconds)
    } setup: {
        try SharedPair(megabytes: 450)
    }

    Benchmark(
        "Index proof and quick_check, 450 MB",
        configuration: configuration([ratio, ours, peers], iterations: 3)
    ) { (benchmark: Benchmark, store: SampleStore) in
        let own = try time {
            let location = StoreLocation(url: store.url)
            guard try StoreVerifier().verify(location, level: .sqlite).passed else {
                return benchmark.error("the store does not pass")
            }
        }
        let other = try ChildProcess.run("sqlite3", [store.url.path, "PRAGMA integrity_check"])
        benchmark.record(ours: own, peers: other.duration)
    } setup: {
        try SampleStore.make(megabytes: 450)
    }

    writeLockHold("WAL 100 MB", megabytes: 100, .wal, iterations: 20)
    writeLockHold("WAL 400 MB", megabytes: 400, .wal, iterations: 5)
    writeLockHold("rollback 100 MB", megabytes: 100, .delete, iterations: 20)

    for command in [["inspect"], ["verify"], ["verify", "--level", "sqlite"]] {
        Benchmark(
            "Peak memory of \(command.joined(separator: " ")), 450 MB",
            configuration: configuration([memory, ours], iterations: 1)
        ) { (benchmark: Benchmark, store: SampleStore) in
            let child = try ChildProcess.run(Tool.path, [command[0], store.url.path] + command.dropFirst())
            benchmark.measurement(memory, child.peakMemory)
            benchmark.measurement(ours, child.duration.milliseconds)
        } setup: {
            try SampleStore.make(megabytes: 450)
        }
    }

    Benchmark("Start-up", configuration: configuration([.wallClock, memory], iterations: 50)) { benchmark in
        benchmark.startMeasurement()
        let child = try ChildProcess.run(Tool.path, ["--version"])
        benchmark.stopMeasurement()
        benchmark.measurement(memory, child.peakMemory)
    }
}
