/// An error that says why bytes that a store holds cannot be decoded.
///
/// The decoders do not know which file the bytes come from; whoever does names it.
package struct UndecodableData: Error, Hashable, Sendable, CustomStringConvertible {
    /// A lower-case fragment that never repeats what the bytes hold.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
