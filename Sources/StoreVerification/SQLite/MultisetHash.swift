/// A hash that is equal for two collections with the same entries in any order.
struct MultisetHash: Equatable {
    private(set) var count: Int64 = 0
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Adds one entry; a sum, unlike exclusive or, also distinguishes an entry that is there twice from a missing one.
    @inline(__always)
    mutating func insert(_ state: KeyedHash.State) {
        count &+= 1
        low &+= state.low
        high &+= state.high
    }
}
