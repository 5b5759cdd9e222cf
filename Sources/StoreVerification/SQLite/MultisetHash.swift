/// What two collections of entries have in common when they hold the same entries, in whatever order.
struct MultisetHash: Equatable {
    private(set) var count: Int64 = 0
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Adds one entry; sums, unlike exclusive or, also tell an entry held twice from one held not at all.
    @inline(__always)
    mutating func insert(_ state: KeyedHash.State) {
        count &+= 1
        low &+= state.low
        high &+= state.high
    }
}
