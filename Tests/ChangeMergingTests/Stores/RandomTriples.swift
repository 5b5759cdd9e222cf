import Glibc

/// How many random triples are merged.
enum RandomTriples {
    /// Sixty, or as many as `STORE_MERGE_TRIPLES` says, counted from `STORE_MERGE_SEED`.
    static let seeds: Range<UInt64> = {
        let first = number("STORE_MERGE_SEED") ?? 0
        return first..<first + (number("STORE_MERGE_TRIPLES") ?? 60)
    }()

    /// How many triples lie side by side in the same three stores, so that opening these is not most of the work.
    static let islands = 40

    /// Two hundred and fifty times forty triples, or as many times as `STORE_MERGE_ARCHIPELAGOS` says.
    static let archipelagos: Range<UInt64> = {
        let first = number("STORE_MERGE_SEED") ?? 0
        return first..<first + (number("STORE_MERGE_ARCHIPELAGOS") ?? 250)
    }()

    private static func number(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }
}
