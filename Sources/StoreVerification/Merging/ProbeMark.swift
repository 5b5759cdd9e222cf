import FoundationEssentials
import StoreFormat

/// A value that marks an object as changed by a probe, different for each number.
enum ProbeMark {
    /// Above the values of most rows, and within 16 bits.
    private static let base = 20_000

    /// The types that a mark can be made for, the most suitable first.
    static let types: [AttributeDescription.AttributeType] = [
        .string, .integer64, .integer32, .integer16, .double, .float, .decimal, .date,
    ]

    /// A value of a type; nil for a type whose values cannot be generated.
    static func value(_ number: Int, of type: AttributeDescription.AttributeType) -> AttributeValue? {
        let number = base + number % 10_000
        return switch type {
        case .string: .string("store-migrate \(number)")
        case .integer16, .integer32, .integer64: .integer(Int64(number))
        case .double, .float: .real(Double(number))
        case .decimal: .decimal(Decimal(number))
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number) * 86_400))
        case .boolean: .boolean(number % 2 == 0)
        case .binaryData: .data(Data("\(number)".utf8))
        case .uuid: .uuid(uuid(number))
        case .uri: .uri("x-store-migrate:\(number)")
        case .undefined, .transformable, .objectID, .composite: nil
        }
    }

    private static func uuid(_ number: Int) -> UUID {
        let (high, low) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
        return UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, high, low))
    }
}
