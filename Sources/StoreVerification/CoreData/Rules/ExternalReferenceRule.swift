import SafeFiles
package import StoreFormat

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
