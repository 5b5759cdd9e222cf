public import FoundationEssentials
public import StoreFormat

/// A type of attributes that the model requires: a value exists also before the attribute is set.
public protocol MandatoryAttribute: AttributeConvertible {
    /// The value of an attribute that has none yet, or a stored one of another type.
    static var absentValue: Self { get }
}

/// An enumeration of an attribute that the model requires.
public protocol MandatoryEnumeration: RawRepresentable where RawValue: AttributeConvertible {
    /// The case that a property returns for an attribute without a value, and for a raw value that is no case.
    static var absentValue: Self { get }
}

extension MandatoryAttribute where Self: AdditiveArithmetic {
    /// Zero.
    public static var absentValue: Self { zero }
}

extension Int16: MandatoryAttribute {}
extension Int32: MandatoryAttribute {}
extension Int64: MandatoryAttribute {}
extension Double: MandatoryAttribute {}
extension Float: MandatoryAttribute {}
extension Decimal: MandatoryAttribute {}

extension Bool: MandatoryAttribute {
    public static var absentValue: Bool { false }
}

extension String: MandatoryAttribute {
    public static var absentValue: String { "" }
}

extension Data: MandatoryAttribute {
    public static var absentValue: Data { Data() }
}

extension Date: MandatoryAttribute {
    /// The start of 2001.
    public static var absentValue: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension UUID: MandatoryAttribute {
    /// The UUID of zeros.
    public static var absentValue: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension URL: MandatoryAttribute {
    /// The root folder.
    public static var absentValue: URL { URL(filePath: "/") }
}

extension AttributeValue: MandatoryAttribute {
    public static var absentValue: AttributeValue { .null }
}
