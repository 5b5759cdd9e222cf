import SafeFiles
package import StoreAccess
import StoreFormat

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

/// No two objects of an entity share the values of a uniqueness constraint; a missing value never collides.
struct UniquenessRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for constraint in store.constraints where !isHeldBySQLite(constraint, in: store) {
            let columns = constraint.columns.map(SQLName.quoted)
            let present = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
            try store.connection.forEachRow(
                """
                SELECT max(Z_PK) FROM \(SQLName.quoted(constraint.table))
                WHERE \(present) AND \(store.condition(for: constraint.entities, in: constraint.table))
                GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1
                """
            ) { row in
                findings.report(
                    .duplicateObject,
                    .error,
                    "an object shares its \(constraint.names.joined(separator: ", ")) with another, which the model forbids",
                    entity: constraint.entity,
                    table: constraint.table,
                    key: row.integer(0)
                )
            }
        }
    }

    /// True where a unique index has the same columns: the level `sqlite` proved it.
    private func isHeldBySQLite(_ constraint: CoreDataStore.Constraint, in store: CoreDataStore) -> Bool {
        let columns = Set(constraint.columns)
        return store.schema.table(named: constraint.table)?.indexes
            .contains { index in
                index.isUnique && !index.isPartial && Set(index.columns.compactMap(\.name)) == columns
                    && index.columns.allSatisfy { $0.name != nil && $0.collation.uppercased() == "BINARY" }
            } ?? false
    }
}

extension Finding.Code {
    /// Two objects have the same values of a uniqueness constraint.
    package static let duplicateObject = Self(rawValue: "duplicateObject")
}

/// Every external value has its file, and every external file belongs to a value.
///
/// A value that may be external begins with a byte for its location: 1 for the row, 2 for the file whose name follows as
/// 36 characters and a zero.
struct ExternalReferenceRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        let files = try fileNames(in: store)
        var isReferenced = [Bool](repeating: false, count: files.count)
        for attribute in store.attributes where attribute.attribute.allowsExternalBinaryDataStorage {
            let column = SQLName.quoted(attribute.column)
            try store.connection.forEachRow(
                """
                SELECT Z_PK, CAST(substr(\(column), 2, 36) AS TEXT) FROM \(SQLName.quoted(attribute.table)) NOT INDEXED
                WHERE length(\(column)) = 38 AND typeof(\(column)) = 'blob' AND substr(\(column), 1, 1) = x'02'
                AND \(store.condition(for: attribute.entities, in: attribute.table))
                """
            ) { row in
                guard let name = row.text(1) else { return }
                if let place = files.place(of: name), !isReferenced[place] {
                    isReferenced[place] = true
                    return
                }
                if try isFile(name, in: store) { return }
                findings.report(
                    .externalFileMissing,
                    .error,
                    "the file with the value of the attribute \(attribute.attribute.name) is missing",
                    entity: attribute.entity,
                    table: attribute.table,
                    key: row.integer(0)
                )
            }
        }
        for (name, isReferenced) in zip(files, isReferenced) where !isReferenced {
            findings.report(
                .externalFileUnused,
                .warning,
                "no object refers to this external file",
                path: store.externalPath(name)
            )
        }
    }

    private func fileNames(in store: CoreDataStore) throws -> NameList {
        do {
            return try store.externalData?.names() ?? NameList()
        } catch {
            throw StoreError(.inputOutput, path: error.path, error.description)
        }
    }

    /// True for an existing file, since several values may share a file that is off the list; a name with a path is not one.
    private func isFile(_ name: String, in store: CoreDataStore) throws -> Bool {
        guard !name.contains("/"), name != ".", name != ".." else { return false }
        return (try? store.externalData?.status(of: name))?.kind == .regular
    }
}

extension Finding.Code {
    /// The file of an external value is missing.
    package static let externalFileMissing = Self(rawValue: "externalFileMissing")
    /// No object refers to an external file.
    package static let externalFileUnused = Self(rawValue: "externalFileUnused")
}
