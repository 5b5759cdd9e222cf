/// A path at which programs open a store.
package enum Place: UInt8, CaseIterable, Sendable {
    /// The old store of the pair.
    case old
    /// The path to which it is shared.
    case new
    /// Another old store, which is shared to the same path.
    case other

    package var name: String { "\(self)" }
}

/// A value for each place, without an array's allocation: a state is copied millions of times.
package struct EachPlace<Value: Sendable & Hashable>: Sendable, Hashable {
    private var old: Value
    private var new: Value
    private var other: Value

    package init(_ value: Value) { (old, new, other) = (value, value, value) }

    package subscript(_ place: Place) -> Value {
        get {
            switch place {
            case .old: old
            case .new: new
            case .other: other
            }
        }
        set {
            switch place {
            case .old: old = newValue
            case .new: new = newValue
            case .other: other = newValue
            }
        }
    }
}

/// A set of rows; an app writes each row once.
package struct Rows: OptionSet, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The row of the old store, which the backup has, too.
    package static let first = Rows(rawValue: 1)
    /// The row of the other old store.
    package static let second = Rows(rawValue: 2)
    /// The number of rows that no app has written yet.
    package static let firstWritten: UInt8 = 2

    package static func written(_ number: UInt8) -> Rows { Rows(rawValue: 1 << (firstWritten + number)) }

    package var description: String {
        "{" + (0..<8).filter { rawValue & 1 << $0 != 0 }.map { "row \($0)" }.joined(separator: ", ") + "}"
    }
}

/// The transaction ID of a run; only equality has a meaning.
package struct Run: Hashable, Sendable, CustomStringConvertible {
    package let number: UInt8
    package init(number: UInt8) { self.number = number }

    package static let none = Run(number: 0)
    /// A run that no journal and no process names any more.
    package static let past = Run(number: 15)
    package static let most: UInt8 = 14

    package var description: String {
        switch self {
        case .none: "no run"
        case .past: "a past run"
        default: "run \(number)"
        }
    }
}
