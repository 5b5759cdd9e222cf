/// The reason why bytes of a store cannot be decoded.
///
/// Decoders do not know the file of the bytes; their caller adds it.
package struct UndecodableData: Error, Hashable, Sendable, CustomStringConvertible {
    /// A lower-case fragment that never contains the bytes.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
