import Glibc

/// How many random triples are merged.
enum RandomTriples {
    /// Sixty, or as many as `STORE_MERGE_TRIPLES` says, counted from `STORE_MERGE_SEED`.
    static let seeds: Range<UInt64> = {
        func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
        let first = number("STORE_MERGE_SEED") ?? 0
        return first..<first + (number("STORE_MERGE_TRIPLES") ?? 60)
    }()
}
