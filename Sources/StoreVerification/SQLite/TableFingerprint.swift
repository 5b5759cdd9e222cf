internal import CSQLite
import StoreFormat

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
