internal import FoundationEssentials

extension AttributeValue {
    /// The value converted to an attribute's type; nil if the type does not accept it.
    ///
    /// Numbers are converted as by `NSNumber`, as long as nothing is lost: an integer to a real, a decimal or (0 and 1)
    /// a boolean, a whole real to an integer in range. Texts are never converted to numbers.
    public func converted(to type: AttributeDescription.AttributeType) -> AttributeValue? {
        switch (self, type) {
        case (.null, _), (_, .undefined), (_, .objectID), (_, .composite): self
        case (_, .integer16): integer(in: Int64(Int16.min)...Int64(Int16.max))
        case (_, .integer32): integer(in: Int64(Int32.min)...Int64(Int32.max))
        case (_, .integer64): integer(in: Int64.min...Int64.max)
        case (_, .boolean): integer(in: 0...1).map { .boolean($0 == .integer(1)) }
        case (_, .double): number.map(AttributeValue.real)
        case (_, .float): number.map { .real(Double(Float($0))) }
        case (_, .decimal): asDecimal.map(AttributeValue.decimal)
        case (.string, .string), (.date, .date), (.data, .binaryData), (.data, .transformable), (.uuid, .uuid),
            (.uri, .uri), (.externalData, .binaryData), (.externalData, .transformable):
            self
        case (.string(let text), .uri): .uri(text)
        default: nil
        }
    }

    /// The value as a number, to the precision of a double; a boolean counts as 0 or 1.
    package var number: Double? {
        switch self {
        case .boolean(let value): value ? 1 : 0
        case .integer(let value): Double(value)
        case .real(let value): value
        case .decimal(let value): value.isNaN ? .nan : Double(value.description)
        default: nil
        }
    }

    private func integer(in range: ClosedRange<Int64>) -> AttributeValue? {
        let value: Int64? =
            switch self {
            case .boolean(let value): value ? 1 : 0
            case .integer(let value): value
            case .real(let value): Int64(exactly: value)
            case .decimal(let value): Int64(value.description)
            default: nil
            }
        guard let value, range.contains(value) else { return nil }
        return .integer(value)
    }

    private var asDecimal: Decimal? {
        switch self {
        case .boolean(let value): value ? 1 : 0
        case .integer(let value): Decimal(value)
        case .real(let value): value.isNaN ? .nan : Self.decimal(value)
        case .decimal(let value): value
        default: nil
        }
    }
}
