extension String {
    /// True when both are the same bytes, as SQLite and the kernel compare texts.
    ///
    /// Swift's own `==` takes texts for equal that are composed in different ways: two keys of a table, or two names in a
    /// folder, would be one.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Feeds what ``hasSameBytes(as:)`` compares to a hasher.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No text ends in this byte: what follows is told from more of the text.
        hasher.combine(UInt8.max)
    }
}
