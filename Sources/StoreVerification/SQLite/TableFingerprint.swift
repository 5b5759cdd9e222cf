internal import CSQLite
internal import StoreAccess

/// The expected content of each index of one table, from one pass over the table.
///
/// A caller that scans the table anyway can feed it: select ``columns`` (in this order, beginning at some column of the
/// statement), then call ``absorb(_:firstColumn:row:)`` for every row.
struct TableFingerprint {
    /// How rows map to entries of one index.
    private struct Target {
        /// The positions of the key's columns among the selected columns.
        let places: [Int]
        /// The position of the column with the index's condition; nil for an index of every row.
        let conditionPlace: Int?
        var entries = MultisetHash()
    }

    /// The expressions to select, as SQL.
    let columns: [String]
    private let hash: KeyedHash
    private var targets: [Target]
    private var values: [ColumnValue]

    init(_ shapes: [IndexShape], hash: KeyedHash) {
        self.hash = hash
        var columns: [String] = []
        var targets: [Target] = []
        for shape in shapes {
            let keys = shape.columns.map { SQLName.quoted($0.name) }
            let condition = shape.condition.map { "CASE WHEN (\($0)) THEN 1 ELSE 0 END" }
            for expression in keys + [condition].compactMap({ $0 }) where !columns.contains(expression) {
                columns.append(expression)
            }
            targets.append(
                Target(
                    places: keys.compactMap { columns.firstIndex(of: $0) },
                    conditionPlace: condition.flatMap { columns.firstIndex(of: $0) }
                )
            )
        }
        self.columns = columns
        self.targets = targets
        values = Array(repeating: .null, count: columns.count)
    }

    /// Adds the current row of `statement`.
    @inline(__always)
    mutating func absorb(_ statement: OpaquePointer, firstColumn: Int32, row: Int64) {
        for index in values.indices {
            values[index] = ColumnValue(statement, firstColumn &+ Int32(truncatingIfNeeded: index))
        }
        for index in targets.indices {
            if let place = targets[index].conditionPlace, values[place].bits != 1 { continue }
            var state = hash.start
            for place in targets[index].places { values[place].absorb(into: &state, with: hash) }
            hash.absorb(0x50, UInt64(bitPattern: row), into: &state)
            targets[index].entries.insert(state)
        }
    }

    /// The expected entries of each index, in the order of the shapes.
    var entries: [MultisetHash] { targets.map(\.entries) }
}

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

/// A 128-bit hash with a random key, for comparing multisets within one process.
///
/// It follows wyhash's construction: folded full-width products. The key prevents a hostile file from containing entries
/// that cancel out; the values must never be stored.
struct KeyedHash: Sendable {
    private let low: UInt64
    private let high: UInt64
    private let lowKey: UInt64
    private let highKey: UInt64

    init(using generator: inout some RandomNumberGenerator) {
        low = generator.next()
        high = generator.next()
        lowKey = generator.next() | 1
        highKey = generator.next() | 1
    }

    /// Creates a hash with a new random key.
    init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    /// The state of one hash computation.
    struct State {
        fileprivate(set) var low: UInt64
        fileprivate(set) var high: UInt64
    }

    @inline(__always)
    var start: State { State(low: low, high: high) }

    @inline(__always)
    func absorb(_ first: UInt64, _ second: UInt64, into state: inout State) {
        state.low = Self.fold(state.low ^ first, second ^ lowKey)
        state.high = Self.fold(state.high ^ second, first ^ highKey)
    }

    /// Absorbs bytes with their length and a tag for their kind.
    @inline(__always)
    func absorb(_ bytes: UnsafeRawBufferPointer, tag: UInt64, into state: inout State) {
        absorb(tag, UInt64(truncatingIfNeeded: bytes.count), into: &state)
        guard let base = bytes.baseAddress else { return }
        var offset = 0
        while bytes.count &- offset >= 16 {
            absorb(Self.word(base, offset), Self.word(base, offset &+ 8), into: &state)
            offset &+= 16
        }
        let rest = bytes.count &- offset
        switch rest {
        case 0: break
        case 8...: absorb(Self.word(base, offset), Self.word(base, bytes.count &- 8), into: &state)
        case 4...: absorb(Self.half(base, offset), Self.half(base, bytes.count &- 4), into: &state)
        default:
            let first = UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
            let middle = UInt64(base.load(fromByteOffset: offset &+ rest / 2, as: UInt8.self))
            let last = UInt64(base.load(fromByteOffset: bytes.count &- 1, as: UInt8.self))
            absorb(first << 16 | middle << 8 | last, 0, into: &state)
        }
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    @inline(__always)
    private static func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    @inline(__always)
    private static func half(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
