import Dispatch
import Foundation
import SafeFiles
import StoreAccess
import StoreFormat
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Asynchronous calls")
struct AsynchronousCallTests {
    private static let rows = "CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)"

    /// More calls than the cooperative pool has threads.
    private static let calls = 4 * ProcessInfo.processInfo.activeProcessorCount

    private func world() throws -> Places {
        let places = try Places()
        try places.old.makeStore("PRAGMA journal_mode=wal;" + Self.rows)
        return places
    }

    @Test("Shares that wait leave the cooperative pool free for other tasks", .timeLimit(.minutes(5)))
    func poolIsFree() async throws {
        let gate = DispatchSemaphore(value: 0)
        let (waiting, continuation) = AsyncStream.makeStream(of: Void.self)
        let worlds = try (0..<Self.calls).map { _ in try world() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for places in worlds {
                group.addTask {
                    let isFirst = Atomic(true)
                    let isInTime = Atomic(true)
                    let migrator = places.migrator(onProgress: { _ in
                        guard isFirst.exchange(false, ordering: .relaxed) else { return }
                        continuation.yield()
                        isInTime.store(gate.wait(timeout: .now() + .seconds(120)) == .success, ordering: .relaxed)
                    })
                    return try await migrator.shareStoreIfNecessary().outcome == .shared
                        && isInTime.load(ordering: .relaxed)
                }
            }
            // This task runs only if the calls block no thread that it needs.
            group.addTask {
                var count = 0
                for await _ in waiting {
                    count += 1
                    if count == Self.calls { break }
                }
                for _ in 0..<Self.calls { gate.signal() }
                return true
            }
            for try await isInTime in group { #expect(isInTime) }
        }
    }

    @Test("A cancelled task stops its share and leaves nothing behind")
    func cancelled() async throws {
        let places = try world()
        let gate = DispatchSemaphore(value: 0)
        let (waiting, continuation) = AsyncStream.makeStream(of: Void.self)
        let share = Task {
            let isFirst = Atomic(true)
            let migrator = places.migrator(onProgress: { _ in
                guard isFirst.exchange(false, ordering: .relaxed) else { return }
                continuation.yield()
                _ = gate.wait(timeout: .now() + .seconds(120))
            })
            return try await migrator.shareStoreIfNecessary()
        }
        for await _ in waiting { break }
        share.cancel()
        gate.signal()
        let error = await #expect(throws: MigrationError.self) { try await share.value }
        #expect(error?.outcome == .cancelled)
        #expect(try places.container.directory.entries().isEmpty)
    }

    @Test(
        "A cancelled task begins no run",
        arguments: ["plan", "status", "share", "resume", "abort", "retire", "unshare", "unmerge", "merge", "inspect"]
    )
    func notBegun(_ call: String) async throws {
        let places = try world()
        let (old, new) = (places.oldStore.url, places.newStore.url)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            switch call {
            case "plan": _ = try await places.migrator().plan()
            case "status": _ = try await places.migrator().status()
            case "share": try await places.migrator().shareStoreIfNecessary()
            case "resume": try await Recovery(of: old).resume()
            case "abort": try await Recovery(of: old).abort()
            case "retire": try await StoreRetirement(of: old).retire()
            case "unshare": try await StoreUnsharing(old, from: new).unshare()
            case "unmerge": try await MergeUndoing(of: old).unmerge()
            case "merge": _ = try await StoreMerging(old, into: old).merge()
            default:
                _ = try await StoreInspector(onProgress: nil)
                    .asynchronously { try $0.inspect(places.oldStore) }
            }
        }
        task.cancel()
        let error = await #expect(throws: (any Error).self) { try await task.value }
        let isCancelled =
            (error as? MigrationError)?.outcome == .cancelled || (error as? StoreError)?.code == .cancelled
        #expect(isCancelled, "\(error.map { "\($0)" } ?? "")")
    }

    @Test("The progress of a share is a sequence that ends with the outcome")
    func progress() async throws {
        let places = try world()
        let share = ProgressSequence { report in
            try await places.migrator(onProgress: report).shareStoreIfNecessary()
        }
        var phases: Set<StoreProgress.Phase> = []
        var outcome: MigrationOutcome?
        for try await update in share {
            #expect(outcome == nil)
            switch update {
            case .progress(let step): phases.insert(step.phase)
            case .outcome(let result): outcome = result.outcome
            }
        }
        #expect(outcome == .shared)
        #expect(phases.contains(.publishing))
    }

    @Test("An iteration of progress that ends early cancels the share")
    func abandoned() async throws {
        let places = try world()
        let gate = DispatchSemaphore(value: 0)
        let (ends, continuation) = AsyncStream.makeStream(of: MigrationOutcome?.self)
        let share = ProgressSequence<Void> { report in
            do {
                let migrator = places.migrator(onProgress: { step in
                    report(step)
                    _ = gate.wait(timeout: .now() + .seconds(120))
                })
                continuation.yield(try await migrator.shareStoreIfNecessary().outcome)
            } catch {
                continuation.yield((error as? MigrationError)?.outcome)
            }
        }
        for try await _ in share { break }
        for _ in 0..<1_000 { gate.signal() }
        for await end in ends {
            #expect(end == .cancelled)
            break
        }
    }

    @Test("Every call that ends in AndWait has an asynchronous form of the plain name, and no overload of it blocks")
    func twins() throws {
        let files = try #require(FileManager.default.enumerator(atPath: Checkout.path + "/Sources"))
        var count = 0
        for case let file as String in files where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(Checkout.path)/Sources/\(file)", encoding: .utf8)
            for match in text.matches(of: /public func (\w+)AndWait\(/) {
                count += 1
                let declarations = text.split(separator: "public func ").dropFirst()
                    .filter { $0.hasPrefix(match.1 + "(") }
                    .map { $0.prefix { $0 != "{" } }
                let isAsynchronous = !declarations.isEmpty && declarations.allSatisfy { $0.contains(" async ") }
                #expect(isAsynchronous, "\(file): \(match.1)")
            }
        }
        #expect(count > 12)
    }
}
