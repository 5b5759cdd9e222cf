public import FoundationEssentials
public import StoreFormat

/// A value for `%@` and other placeholders of a predicate format.
public protocol PredicateArgument {
    var predicateConstant: PredicateConstant { get }
}

extension PredicateConstant: PredicateArgument {
    public var predicateConstant: PredicateConstant { self }
}

extension AttributeValue: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(self) }
}

extension ManagedObjectID: PredicateArgument {
    public var predicateConstant: PredicateConstant { .object(self) }
}

/// An object is compared by its ID.
extension ManagedObject: PredicateArgument {
    public var predicateConstant: PredicateConstant { .object(objectID) }
}

extension PredicateArgument where Self: BinaryInteger {
    /// A number outside the range of integer attributes is compared as a real.
    public var predicateConstant: PredicateConstant {
        .value(Int64(exactly: self).map(AttributeValue.integer) ?? .real(Double(self)))
    }
}

extension Int: PredicateArgument {}
extension Int8: PredicateArgument {}
extension Int16: PredicateArgument {}
extension Int32: PredicateArgument {}
extension Int64: PredicateArgument {}
extension UInt: PredicateArgument {}
extension UInt8: PredicateArgument {}
extension UInt16: PredicateArgument {}
extension UInt32: PredicateArgument {}
extension UInt64: PredicateArgument {}

extension Bool: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(.boolean(self)) }
}

extension Double: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(.real(self)) }
}

extension Float: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(.real(Double(self))) }
}

extension Decimal: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(.decimal(self)) }
}

extension String: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(.string(self)) }
}

extension Substring: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(.string(String(self))) }
}

extension Date: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(.date(self)) }
}

extension Data: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(.data(self)) }
}

extension UUID: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(.uuid(self)) }
}

extension URL: PredicateArgument {
    public var predicateConstant: PredicateConstant { .value(.uri(absoluteString)) }
}

extension Array: PredicateArgument where Element: PredicateArgument {
    public var predicateConstant: PredicateConstant { .collection(map(\.predicateConstant)) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
    public var predicateConstant: PredicateConstant { .collection(map(\.predicateConstant)) }
}

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
    public var predicateConstant: PredicateConstant { self?.predicateConstant ?? .value(.null) }
}
