extension String {
    /// True if both have the same bytes, as SQLite and the kernel compare texts.
    ///
    /// Swift's own `==` treats canonically equivalent texts as equal: it would merge two keys of a table, or two names
    /// in a folder.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Hashes the bytes that ``hasSameBytes(as:)`` compares.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No text ends in this byte, so it separates the text from the next hashed value.
        hasher.combine(UInt8.max)
    }
}
