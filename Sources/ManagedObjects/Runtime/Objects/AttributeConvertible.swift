public import FoundationEssentials
public import StoreFormat

/// A type that can be the value of an attribute.
public protocol AttributeConvertible {
    /// Converts an attribute's value; nil when it is of another kind.
    init?(attributeValue: AttributeValue)
    var attributeValue: AttributeValue { get }
}

extension Bool: AttributeConvertible {
    public init?(attributeValue: AttributeValue) {
        guard case .boolean(let value)? = attributeValue.converted(to: .boolean) else { return nil }
        self = value
    }

    public var attributeValue: AttributeValue { .boolean(self) }
}

extension AttributeConvertible where Self: BinaryInteger {
    public init?(attributeValue: AttributeValue) {
        guard case .integer(let value)? = attributeValue.converted(to: .integer64), let value = Self(exactly: value)
        else { return nil }
        self = value
    }

    /// An unsigned number that exceeds the attribute's range is clamped.
    public var attributeValue: AttributeValue { .integer(Int64(clamping: self)) }
}

extension Int: AttributeConvertible {}
extension Int16: AttributeConvertible {}
extension Int32: AttributeConvertible {}
extension Int64: AttributeConvertible {}

extension Double: AttributeConvertible {
    public init?(attributeValue: AttributeValue) {
        guard case .real(let value)? = attributeValue.converted(to: .double) else { return nil }
        self = value
    }

    public var attributeValue: AttributeValue { .real(self) }
}

extension Float: AttributeConvertible {
    public init?(attributeValue: AttributeValue) {
        guard case .real(let value)? = attributeValue.converted(to: .float) else { return nil }
        self = Float(value)
    }

    public var attributeValue: AttributeValue { .real(Double(self)) }
}

extension Decimal: AttributeConvertible {
    public init?(attributeValue: AttributeValue) {
        guard case .decimal(let value)? = attributeValue.converted(to: .decimal) else { return nil }
        self = value
    }

    public var attributeValue: AttributeValue { .decimal(self) }
}

extension String: AttributeConvertible {
    public init?(attributeValue: AttributeValue) {
        switch attributeValue {
        case .string(let value), .uri(let value): self = value
        default: return nil
        }
    }

    public var attributeValue: AttributeValue { .string(self) }
}

extension Date: AttributeConvertible {
    public init?(attributeValue: AttributeValue) {
        guard case .date(let value) = attributeValue else { return nil }
        self = value
    }

    public var attributeValue: AttributeValue { .date(self) }
}

extension Data: AttributeConvertible {
    public init?(attributeValue: AttributeValue) {
        guard case .data(let value) = attributeValue else { return nil }
        self = value
    }

    public var attributeValue: AttributeValue { .data(self) }
}

extension UUID: AttributeConvertible {
    public init?(attributeValue: AttributeValue) {
        guard case .uuid(let value) = attributeValue else { return nil }
        self = value
    }

    public var attributeValue: AttributeValue { .uuid(self) }
}

extension URL: AttributeConvertible {
    /// Nil for a text that is no URL; the text itself is available as a string.
    public init?(attributeValue: AttributeValue) {
        guard case .uri(let text) = attributeValue else { return nil }
        self.init(string: text)
    }

    public var attributeValue: AttributeValue { .uri(absoluteString) }
}

extension AttributeValue: AttributeConvertible {
    public init?(attributeValue: AttributeValue) { self = attributeValue }
    public var attributeValue: AttributeValue { self }
}
