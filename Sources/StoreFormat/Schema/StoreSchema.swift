/// The tables, indexes, triggers and views of a database as `sqlite_schema` defines them.
///
/// Reading it connects no virtual table, so it works for a store whose modules this process lacks.
package struct StoreSchema: Hashable, Sendable {
    /// A trigger and its table or view.
    package struct Trigger: Hashable, Sendable {
        package let name: String
        package let table: String
        package let sql: String
    }

    /// A view.
    package struct View: Hashable, Sendable {
        package let name: String
        package let sql: String
    }

    /// The table in which a plain SQLite store temporarily keeps its last merges; it does not count as content.
    package static let mergeEpochTable = "_store_migrate_epoch"

    /// The tables in the order of their creation, including SQLite's own, without this package's.
    package let tables: [Table]
    package let triggers: [Trigger]
    package let views: [View]
    private let positions: [String: Int]

    package init(tables: [Table], triggers: [Trigger] = [], views: [View] = []) {
        self.tables = tables
        self.triggers = triggers
        self.views = views
        positions = Dictionary(
            tables.enumerated().map { ($0.element.name.lowercased(), $0.offset) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// True for one of Core Data's own tables: numbers, metadata, history, and CloudKit's mirror.
    package static func isCoreDataBook(_ name: String) -> Bool {
        let name = name.uppercased()
        return name.hasPrefix("ANSCK")
            || ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
                .contains(name)
    }

    /// Returns the table with that name, ignoring case as SQLite does.
    package func table(named name: String) -> Table? {
        positions[name.lowercased()].map { tables[$0] }
    }
}
