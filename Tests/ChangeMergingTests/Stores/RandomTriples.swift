import TestSupport

/// How many random triples are merged.
enum RandomTriples {
    /// Sixty, or as many as `STORE_MERGE_TRIPLES` says.
    static let seeds = Seed.several(Seed.number("STORE_MERGE_TRIPLES") ?? Tier.sized(12, inVerify: 60))

    /// How many triples lie side by side in the same three stores, so that opening these is not most of the work.
    static let islands = 40

    /// Two hundred and fifty times forty triples, or as many times as `STORE_MERGE_ARCHIPELAGOS` says.
    static let archipelagos = Seed.several(
        Seed.number("STORE_MERGE_ARCHIPELAGOS") ?? Tier.sized(5, inVerify: 250)
    )
}
