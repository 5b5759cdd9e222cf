import StoreFormat

/// The primary key of a row in a plain SQLite store; an integer equals the real of the same value.
struct PlainKey: Hashable, Sendable {
    let values: [SQLValue]

    init(_ values: [SQLValue]) {
        self.values = values.map { value in
            if case .real(let number) = value, let whole = Int64(exactly: number) { .integer(whole) } else { value }
        }
    }

    init(_ number: Int64) { values = [.integer(number)] }

    /// True for a key that comes first in SQLite's order.
    func precedes(_ other: PlainKey) -> Bool {
        for (own, theirs) in zip(values, other.values) {
            let order = own.compared(to: theirs)
            if order != 0 { return order < 0 }
        }
        return false
    }

    var stored: [StoredValue] { values.map { StoredValue($0) } }
}
