/// Decodes property lists: the binary form, which Core Data writes, and the XML form.
///
/// The bytes may be hostile: depth, input size and output size are limited, and no input traps.
package enum PropertyListReader {
    /// The maximum depth of a property list; genuine ones stay below ten.
    static let depthLimit = 128

    /// Decodes one property list, of either form.
    package static func value(from bytes: [UInt8]) throws -> PropertyListValue {
        if bytes.starts(with: BinaryPropertyListReader.signature) {
            var reader = try BinaryPropertyListReader(bytes)
            return try reader.topValue()
        }
        if bytes.contains(UInt8(ascii: "<")) {
            var reader = XMLPropertyListReader(bytes)
            return try reader.topValue()
        }
        throw UndecodableData("the bytes are not a property list")
    }
}
