package import FoundationEssentials
package import StoreAccess

/// The whole row of an object on the side that lost a decision, kept in a file so that no value is lost.
package struct ParkedRow: Codable {
    package let side: MergeDirection
    /// The entity, or the table in a store without a Core Data model.
    package let entity: String
    /// The key on that side: one number, or the values of a table's primary key.
    package let key: [StoredValue]
    /// The key of the object in the shared store after the merge; nil if the object is missing there.
    package let target: [StoredValue]?
    package let reason: StoreMergeConflict.Reason
    /// The row by attributes, or by columns, without ``largeValues``.
    package let values: [String: StoredValue]
    /// The values that are read in pieces from ``sources`` when the row is written.
    package private(set) var largeValues: [String: LargeValue] = [:]
    package private(set) var sources: [any LargeValueSource] = []
    /// The partners of each relationship, by their keys in the shared store.
    package let partners: [String: [Int64]]

    package init(
        side: MergeDirection,
        entity: String,
        key: [StoredValue],
        target: [StoredValue]?,
        reason: StoreMergeConflict.Reason,
        values: [String: StoredValue],
        partners: [String: [Int64]] = [:]
    ) {
        self.init(
            side: side,
            entity: entity,
            key: key,
            target: target,
            reason: reason,
            values: values.mapValues(\.sqlValue),
            from: [],
            partners: partners
        )
    }

    init(
        side: MergeDirection,
        entity: String,
        key: [StoredValue],
        target: [StoredValue]?,
        reason: StoreMergeConflict.Reason,
        values: [String: SQLValue],
        from sources: [any LargeValueSource],
        partners: [String: [Int64]] = [:]
    ) {
        self.side = side
        self.entity = entity
        self.key = key
        self.target = target
        self.reason = reason
        self.values = values.compactMapValues { if case .large = $0 { nil } else { StoredValue($0) } }
        largeValues = values.compactMapValues { if case .large(let value) = $0 { value } else { nil } }
        self.sources = sources
        self.partners = partners
    }
}

// MARK: Coding

extension ParkedRow {
    /// Large values are written by ``write(_:)`` only.
    private enum CodingKeys: String, CodingKey {
        case side, entity, key, target, reason, values, partners
    }

    /// Calls `body` with the row as a line of JSON, piece by piece: no large value is held.
    package func write(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let encoder = RecordCoding.encoder()
        func write(_ text: String) throws { try Array(text.utf8).withUnsafeBytes(body) }
        // `values` is the last member, since members are sorted.
        let members = try encoder.encode(self)
        guard !largeValues.isEmpty else {
            try members.withUnsafeBytes(body)
            return try write("\n")
        }
        try members.dropLast(2).withUnsafeBytes(body)
        var isFirst = values.isEmpty
        for (name, value) in largeValues.sorted(by: { $0.key < $1.key }) {
            try write(isFirst ? "" : ",")
            isFirst = false
            try encoder.encode(name).withUnsafeBytes(body)
            let form = try LargeValueText(value, from: sources)
            try write(form.opening)
            try form.write(body)
            try write(form.closing)
        }
        try write("}}\n")
    }
}

/// How values of stores are written as JSON beside a journal, and read back.
///
/// JSON has no infinities, and stores may contain them. They are written as strings, which no number is.
package enum RecordCoding {
    private static let (infinity, negativeInfinity, notANumber) = ("inf", "-inf", "nan")

    package static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: infinity,
            negativeInfinity: negativeInfinity,
            nan: notANumber
        )
        return encoder
    }

    package static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: infinity,
            negativeInfinity: negativeInfinity,
            nan: notANumber
        )
        return decoder
    }
}
