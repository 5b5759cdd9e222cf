import StoreFormat

/// Values that statements bind, and the SQL that refers to them.
struct SQLArguments {
    private(set) var values: [SQLValue] = []

    /// Adds a value and returns its numbered parameter.
    mutating func parameter(_ value: SQLValue) -> String {
        if case .null = value { return "NULL" }
        if let position = values.firstIndex(of: value) { return "?\(position + 1)" }
        values.append(value)
        return "?\(values.count)"
    }
}

/// Where the references of one relationship are in the source, as SQL over the row `s` that will contain the key.
struct ReferenceSource: Hashable {
    /// The destination's primary key.
    let key: String
    /// The destination's entity number in the source; nil if no column has it.
    let entity: String?
    /// The order key among the rows with the same reference; nil if the source has no order.
    let order: String?
    /// The table of the destination's rows.
    let destinationTable: String
    /// The numbers of the source entities whose objects the relationship cannot refer to any more.
    let lost: [Int64]
    /// A statement that returns a row if one object has several destinations; nil if the form permits one only.
    let ambiguity: String?
}
