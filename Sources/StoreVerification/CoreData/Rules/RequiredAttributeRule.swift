package import StoreFormat

/// An attribute that is not optional has a value in every object.
struct RequiredAttributeRule: CoreDataRule {
    /// The number of attributes that one scan of a table checks; SQLite limits the depth of an expression.
    private static let attributesPerScan = 64

    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        let required = store.attributes.filter { !$0.attribute.isOptional && !$0.attribute.isDerived }
        let tables = Dictionary(grouping: required, by: \.table).sorted { $0.key < $1.key }
        for (table, attributes) in tables {
            for start in stride(from: 0, to: attributes.count, by: Self.attributesPerScan) {
                let end = min(start + Self.attributesPerScan, attributes.count)
                try check(Array(attributes[start..<end]), in: table, of: store, &findings)
            }
        }
    }

    private func check(
        _ attributes: [CoreDataStore.Attribute],
        in table: String,
        of store: CoreDataStore,
        _ findings: inout FindingList
    ) throws {
        let conditions = attributes.map {
            "\(SQLName.quoted($0.column)) IS NULL AND \(store.condition(for: $0.entities, in: table))"
        }
        try store.connection.forEachRow(
            """
            SELECT Z_PK, \(conditions.joined(separator: ", ")) FROM \(SQLName.quoted(table)) NOT INDEXED
            WHERE \(conditions.joined(separator: " OR "))
            """
        ) { row in
            for (index, attribute) in attributes.enumerated() where row.integer(index + 1) != 0 {
                findings.report(
                    .requiredValueMissing,
                    .error,
                    "the required attribute \(attribute.attribute.name) has no value",
                    entity: attribute.entity,
                    table: table,
                    key: row.integer(0)
                )
            }
        }
    }
}

extension Finding.Code {
    /// An object lacks a value that the model requires.
    package static let requiredValueMissing = Self(rawValue: "requiredValueMissing")
}
