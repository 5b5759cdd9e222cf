/// A text or blob too large to be held: its size, its digest, and where its bytes are read in pieces.
///
/// Large values are equal when their storage classes and their bytes are.
package struct LargeValue: Sendable {
    /// The size of the greatest value that is held whole, and of a piece of a larger one.
    package static let greatestWhole = 1 << 18

    /// Where a ``LargeValueSource`` finds the bytes.
    package enum Place: Hashable, Sendable {
        /// A column of the row whose `key` columns have these values.
        case cell(table: String, column: String, key: [String], [SQLValue])
        /// A file of its own, by its name in the folder of external data.
        case file(String)
        /// A part of a file that has several, by its number.
        case part(Int)
    }

    package let isText: Bool
    package let byteCount: Int
    /// SHA-256.
    package let digest: [UInt8]
    package let place: Place
    private let source: ObjectIdentifier

    package init(isText: Bool, byteCount: Int, digest: [UInt8], at place: Place, of source: any LargeValueSource) {
        self.isText = isText
        self.byteCount = byteCount
        self.digest = digest
        self.place = place
        self.source = ObjectIdentifier(source)
    }

    /// Calls `body` with the bytes, piece by piece; throws at the end if they are not the ones that were compared.
    package func forEachPiece(
        from sources: [any LargeValueSource],
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard let source = sources.first(where: { ObjectIdentifier($0) == source }) else {
            throw StoreError(.failed, path: "", "a large value is read after its store was left")
        }
        var hash = SHA256()
        try source.forEachPiece(of: self) { piece in
            hash.update(piece)
            try body(piece)
        }
        guard hash.digest == digest else {
            throw StoreError(.changedMeanwhile, path: "", "a large value changed while it was read")
        }
    }
}

extension LargeValue: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.isText == right.isText && left.byteCount == right.byteCount && left.digest == right.digest
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// What reads the bytes of large values: a connection reads cells, the reader of a file its parts.
package protocol LargeValueSource: AnyObject {
    /// Calls `body` with the bytes in order, in pieces of at most ``LargeValue/greatestWhole``.
    func forEachPiece(of value: LargeValue, _ body: (UnsafeRawBufferPointer) throws -> Void) throws
}
