/// The tables, indexes, triggers and views of a database as `sqlite_schema` defines them.
///
/// No virtual table is connected to read it, so it can be taken of a store whose modules this process does not have.
package struct StoreSchema: Hashable, Sendable {
    /// A trigger and the table or view it stands on.
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

    /// The table in which a store that is none of Core Data's keeps the merge it saw last, for a while; it is no content.
    package static let mergeEpochTable = "_store_migrate_epoch"

    /// The tables in the order of their creation, SQLite's own included, and ours left out.
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

    /// True for a table in which Core Data keeps its own books: numbers, metadata, history, and CloudKit's mirror.
    package static func isCoreDataBook(_ name: String) -> Bool {
        let name = name.uppercased()
        return name.hasPrefix("ANSCK")
            || ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
                .contains(name)
    }

    /// Returns the table of that name; SQLite takes names without regard to case.
    package func table(named name: String) -> Table? {
        positions[name.lowercased()].map { tables[$0] }
    }
}
