import StoreAccess
import Testing

@Suite("Sorts of many rows")
struct CancellableSortTests {
    @Test("A cancelled sort throws after at most 4,096 comparisons; without cancellation, the order is complete")
    func cancelled() throws {
        var generator = SystemRandomNumberGenerator()
        let numbers = (0..<10_000).map { _ in Int.random(in: 0..<1_000, using: &generator) }
        var comparisons = 0

        #expect(throws: CancellationError.self) {
            _ = try numbers.sorted(
                checking: { throw CancellationError() },
                by: { first, second in
                    comparisons += 1
                    return first < second
                }
            )
        }
        #expect(comparisons < 4_096)
        #expect(try numbers.sorted(checking: {}, by: { $0 < $1 }) == numbers.sorted())
    }
}
