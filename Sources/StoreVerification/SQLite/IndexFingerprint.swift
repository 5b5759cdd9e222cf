internal import CSQLite

/// The content of one index, and whether it is in order, from one pass over the index.
struct IndexFingerprint {
    private let hash: KeyedHash
    private let isUnique: Bool
    private var order: EntryOrder
    private var values: [ColumnValue]
    private(set) var entries = MultisetHash()
    /// A row whose entry precedes a neighbour that it should follow, if there is one.
    private(set) var disorderedRow: Int64?
    /// A row whose entry repeats the key of its neighbour in a unique index, if there is one.
    private(set) var repeatedRow: Int64?

    init(_ shape: IndexShape, hash: KeyedHash) {
        self.hash = hash
        isUnique = shape.isUnique
        order = EntryOrder(shape)
        values = Array(repeating: .null, count: shape.columns.count)
    }

    /// Adds the current entry of `statement`: the row's number, then the key's columns.
    @inline(__always)
    mutating func absorb(_ statement: OpaquePointer) {
        let row = sqlite3_column_int64(statement, 0)
        var state = hash.start
        for index in values.indices {
            let value = ColumnValue(statement, Int32(truncatingIfNeeded: index &+ 1))
            value.absorb(into: &state, with: hash)
            values[index] = value
        }
        hash.absorb(0x50, UInt64(bitPattern: row), into: &state)
        entries.insert(state)
        let verdict = values.withUnsafeBufferPointer { values in
            values.baseAddress.map { order.next($0, row: row) } ?? .inOrder
        }
        switch verdict {
        case .inOrder: break
        case .sameKey: if isUnique, repeatedRow == nil { repeatedRow = row }
        case .outOfOrder: if disorderedRow == nil { disorderedRow = row }
        }
    }
}
