internal import FoundationEssentials

extension AttributeDescription {
    /// The value of a new object: the model's default, in the attribute's type.
    package var initialValue: AttributeValue {
        let value: AttributeValue? =
            switch defaultValue {
            case .string(let text): .string(text)
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .boolean(let flag): .boolean(flag)
            case .data(let bytes): type == .uuid ? UUID(bytes: bytes).map(AttributeValue.uuid) : .data(Data(bytes))
            case .date(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
            default: nil
            }
        return value?.converted(to: type) ?? .null
    }
}

extension UUID {
    fileprivate init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
