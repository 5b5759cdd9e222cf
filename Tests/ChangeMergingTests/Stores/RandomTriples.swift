import TestSupport

/// The number of random triples to merge.
enum RandomTriples {
    /// Sixty, or the value of `STORE_MERGE_TRIPLES`.
    static let seeds = Seed.several(Seed.number("STORE_MERGE_TRIPLES") ?? Tier.sized(12, inVerify: 60))

    /// The number of independent triples in the same three stores, so that opening stores takes less of the time.
    static let islands = 40

    /// Two hundred and fifty times forty triples, or the value of `STORE_MERGE_ARCHIPELAGOS` times forty.
    static let archipelagos = Seed.several(
        Seed.number("STORE_MERGE_ARCHIPELAGOS") ?? Tier.sized(5, inVerify: 250)
    )
}
