import SafeFiles
package import StoreAccess
package import StoreFormat

extension StoreDigest {
    /// Returns the differences from the content of another store, table by table; empty when the two are equal.
    ///
    /// `entities` names the entity whose objects a table holds, by the table's name.
    package func differences(from other: StoreDigest, entities: [String: String] = [:]) -> [Finding] {
        ContentComparison(self, with: other, entities: entities).findings
    }
}

extension EntityNumbers {
    /// The names of the model's root entities by the tables that hold their objects.
    package var entitiesByTable: [String: String] {
        Dictionary(
            roots.filter(\.isOfModel).map { ("Z" + $0.name.uppercased(), $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}

/// Compares the content of two stores, table by table.
private struct ContentComparison {
    private let digest: StoreDigest
    private let other: StoreDigest
    /// The entity whose objects a table holds, by the table's name.
    private let entities: [String: String]

    init(_ digest: StoreDigest, with other: StoreDigest, entities: [String: String]) {
        self.digest = digest
        self.other = other
        self.entities = entities
    }

    var findings: [Finding] {
        guard digest != other else { return [] }
        var findings: [Finding] = []
        if digest.schema != other.schema {
            findings.append(
                Finding(.schemaDiffers, .error, level: .content, "tables, indexes or triggers have other definitions")
            )
        }
        let own = Dictionary(digest.tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let others = Dictionary(other.tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for name in Set(own.keys).union(others.keys).sorted() {
            guard let message = message(own[name], others[name]) else { continue }
            findings.append(
                Finding(.contentDiffers, .error, level: .content, message, entity: entities[name], table: name)
            )
        }
        if digest.externalFiles != other.externalFiles {
            findings.append(
                Finding(.externalFilesDiffer, .error, level: .content, "the files of external binary data differ")
            )
        }
        if findings.isEmpty {
            findings.append(Finding(.contentDiffers, .error, level: .content, "the contents differ"))
        }
        return findings
    }

    private func message(_ table: StoreDigest.Table?, _ other: StoreDigest.Table?) -> String? {
        switch (table, other) {
        case (nil, nil): nil
        case (let table?, nil): "the other store lacks this table of \(table.rows) rows"
        case (nil, let other?): "this table is missing; the other store has it with \(other.rows) rows"
        case (let table?, let other?):
            if table.digest == other.digest {
                nil
            } else if table.rows == other.rows {
                "the \(table.rows) rows of this table differ from those of the other store"
            } else {
                "this table holds \(table.rows) rows, and \(other.rows) in the other store"
            }
        }
    }
}

extension Finding.Code {
    /// A table's rows differ from those of the other store.
    package static let contentDiffers = Self(rawValue: "contentDiffers")
    /// The definitions differ from those of the other store.
    package static let schemaDiffers = Self(rawValue: "schemaDiffers")
    /// The external files differ from those of the other store.
    package static let externalFilesDiffer = Self(rawValue: "externalFilesDiffer")
}

/// The reference that the content of a store is compared with.
enum ContentReference {
    /// Another store.
    case store(StoreDigest)
    /// The digest that a share recorded of this store, which was not written to since.
    case recorded(String)
    /// Nothing, for this reason: a lower-case clause.
    case none(String)

    /// The digest that a share recorded beside the store, if `view` shows the store unchanged since.
    ///
    /// Throws `StoreError` if the record cannot be read.
    init(recordedBeside location: StoreLocation, seenAs view: StoreView) throws {
        let found: ReceiptFile?
        do { found = try ReceiptFile(beside: location.name, in: view.folder) } catch let error as FileError {
            throw StoreError(.inputOutput, path: error.path, "cannot \(error.operation) (\(error.errno))")
        }
        guard let recorded = found else {
            self = .none("there is no other store to compare with, and no share recorded its content")
            return
        }
        guard let token = recorded.token else {
            self = .none("other processes wrote to the store before the share could record its content")
            return
        }
        self =
            view.token.holdsSameContent(as: token)
            ? .recorded(recorded.digest) : .none("the store was written to since its content was recorded")
    }
}
