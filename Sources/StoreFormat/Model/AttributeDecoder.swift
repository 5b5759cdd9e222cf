internal import FoundationEssentials

/// Decodes the column of one attribute directly from rows, without a copy: the most frequent step of a fetch.
package final class AttributeDecoder: Sendable {
    private let attribute: AttributeDescription
    private let type: AttributeDescription.AttributeType
    /// True if the column contains only the value, without a mark of external storage.
    private let isPlain: Bool

    package init(_ attribute: AttributeDescription) {
        self.attribute = attribute
        type = attribute.type
        isPlain = !attribute.allowsExternalBinaryDataStorage
    }

    /// The value in a column; a value of another type, which genuine stores contain, is returned as stored.
    package func value(_ row: borrowing StoreRow, _ column: Int) -> AttributeValue {
        switch (row.type(column), type) {
        case (.null, _): return .null
        case (.integer, .integer16), (.integer, .integer32), (.integer, .integer64):
            return .integer(row.integer(column))
        case (.integer, .boolean): return .boolean(row.integer(column) != 0)
        case (.real, .double), (.real, .float), (.integer, .double), (.integer, .float):
            return .real(row.real(column))
        case (.real, .date), (.integer, .date):
            return .date(Date(timeIntervalSinceReferenceDate: row.real(column)))
        case (.text, .string): return row.text(column).map(AttributeValue.string) ?? .null
        case (.blob, .binaryData) where isPlain, (.blob, .transformable) where isPlain:
            return .data(row.withBytes(column) { Data($0) })
        default: break
        }
        let stored = row.value(column)
        return AttributeValue(stored, of: attribute) ?? AttributeValue(stored, as: .undefined) ?? .null
    }
}
