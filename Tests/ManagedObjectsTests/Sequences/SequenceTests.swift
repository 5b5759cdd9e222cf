import FoundationEssentials
import TestSupport
import Testing

/// Ten thousand short sequences, each with its own seed; a hundred thousand with `STORE_MIGRATE_SOAK`.
///
/// `STORE_MIGRATE_SEEDS=4711` repeats a failure; `=4700-4711` also repeats the earlier sequences in the same store.
@Suite("Random sequences of changes and merges", .sampled)
struct SequenceTests {
    private static let count: UInt64 =
        ProcessInfo.processInfo.environment["STORE_MIGRATE_SOAK"] == nil ? Tier.sized(500, inVerify: 10_000) : 100_000
    private static let perStore: UInt64 = 250

    private static let longSeeds = Seed.several(
        ProcessInfo.processInfo.environment["STORE_MIGRATE_SOAK"] == nil ? Tier.sized(1, inVerify: 12) : 400
    )

    private static let ranges: [ClosedRange<UInt64>] = {
        if let asked = ProcessInfo.processInfo.environment["STORE_MIGRATE_SEEDS"] {
            let ends = asked.split(separator: "-").compactMap { UInt64($0) }
            if let first = ends.first, let last = ends.last, first <= last { return [first...last] }
        }
        let first = Seed.several(1)[0]
        return stride(from: first, to: first + count, by: Int(perStore)).map { $0...($0 + perStore - 1) }
    }()

    @Test(
        "After every merge, a complete controller equals a fresh fetch, and its reported changes lead to that list",
        arguments: ranges
    )
    func sequences(_ seeds: ClosedRange<UInt64>) async throws {
        let stack = try SequenceStack()
        for seed in seeds {
            do {
                try await RandomSequence(seed: seed, stack: stack).run()
                try stack.empty()
            } catch {
                Issue.record("seed \(seed) (STORE_MIGRATE_SEEDS=\(seed), or =\(seeds.lowerBound)-\(seed)): \(error)")
                return
            }
        }
    }

    @Test("After many consecutive merges, a complete controller equals a fresh fetch", arguments: longSeeds)
    func longSequence(_ seed: UInt64) async throws {
        do {
            try await RandomSequence(seed: seed, stack: SequenceStack(), isLong: true).run()
        } catch {
            Issue.record("seed \(seed): \(error)")
        }
    }
}
