package import StoreFormat

/// A row that SQLite's session extension does not see, before and after a merge.
///
/// The extension sees no row of a table without a primary key, of a virtual table, or of one with generated columns. It
/// would hold a large value several times.
package struct UnkeyedRow: Hashable, Sendable, Codable {
    package let table: String
    /// The columns that identify the row; empty if rows are identified by all their values.
    package let keyColumns: [String]
    /// All written columns; of an update in place only the key and the changed columns.
    package let columns: [String]
    /// Nil if the merge added the row.
    package let before: [RecordedValue]?
    /// Nil if the merge removed the row.
    package let after: [RecordedValue]?
    /// True for an update in place.
    ///
    /// Without `before` or `after`, the row is recorded elsewhere with nulls in these columns.
    package var isInPlace: Bool { inPlace == true }
    private let inPlace: Bool?

    package init(
        table: String,
        keyColumns: [String],
        columns: [String],
        before: [RecordedValue]?,
        after: [RecordedValue]?,
        isInPlace: Bool = false
    ) {
        self.table = table
        self.keyColumns = keyColumns
        self.columns = columns
        self.before = before
        self.after = after
        inPlace = isInPlace ? true : nil
    }
}

/// A value of a recorded row.
///
/// A large value is its digest, and the number of its copy in the record, if there is one.
package enum RecordedValue: Hashable, Sendable {
    case whole(StoredValue)
    case large(Large)

    package struct Large: Hashable, Sendable, Codable {
        let isText: Bool
        let byteCount: Int
        let digest: String
        let part: Int?
    }

    package init(_ value: SQLValue, keptAs part: Int? = nil) {
        guard case .large(let large) = value else {
            self = .whole(StoredValue(value))
            return
        }
        let digest = SHA256.hexadecimal(digest: large.digest)
        self = .large(Large(isText: large.isText, byteCount: large.byteCount, digest: digest, part: part))
    }

    /// The value; the bytes of a large one are read from `source`.
    func sqlValue(from source: any LargeValueSource) -> SQLValue {
        switch self {
        case .whole(let value): value.sqlValue
        case .large(let large):
            .large(
                LargeValue(
                    isText: large.isText,
                    byteCount: large.byteCount,
                    digest: SHA256.digest(hexadecimal: large.digest) ?? [],
                    at: .part(large.part ?? -1),
                    of: source
                )
            )
        }
    }
}

extension RecordedValue: Codable {
    private enum Key: CodingKey {
        case large
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if let large = try container.decodeIfPresent(Large.self, forKey: .large) {
            self = .large(large)
        } else {
            self = .whole(try StoredValue(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .whole(let value): try value.encode(to: encoder)
        case .large(let large):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(large, forKey: .large)
        }
    }
}
