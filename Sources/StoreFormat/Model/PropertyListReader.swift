/// Decodes property lists: the binary form, in which Core Data writes, and the XML form.
///
/// The bytes may be hostile: depth, size and what is made of them are bounded, and no input makes it trap.
package enum PropertyListReader {
    /// How deep a property list may nest; genuine ones stay below ten.
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
