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

    /// Returns the table with that name, ignoring case as SQLite does.
    package func table(named name: String) -> Table? {
        positions[name.lowercased()].map { tables[$0] }
    }
}

extension StoreSchema {
    /// One table.
    package struct Table: Hashable, Sendable {
        /// How a table stores its rows.
        package enum Kind: Hashable, Sendable {
            case ordinary
            case withoutRowID
            /// A module produces the rows; its columns and indexes are not listed here.
            case virtual(module: String)
            /// An ordinary table that stores the content of a virtual table.
            case shadow(of: String)
            /// A table of SQLite's own, such as `sqlite_sequence`.
            case ofSQLite
        }

        package let name: String
        package let kind: Kind
        /// All columns in their order, generated ones included; empty for a virtual table.
        package let columns: [Column]
        /// The column that is an alias of the rowid (`INTEGER PRIMARY KEY`).
        package let rowIDAlias: String?
        package let indexes: [Index]
        /// The definition as written; nil if SQLite stores none.
        package let sql: String?
        /// True for a table without a rowid, of any kind.
        package let isWithoutRowID: Bool

        package init(
            name: String,
            kind: Kind,
            columns: [Column],
            rowIDAlias: String? = nil,
            indexes: [Index] = [],
            sql: String? = nil,
            isWithoutRowID: Bool = false
        ) {
            self.name = name
            self.kind = kind
            self.columns = columns
            self.rowIDAlias = rowIDAlias
            self.indexes = indexes
            self.sql = sql
            self.isWithoutRowID = isWithoutRowID
        }

        /// True for a table that stores rows in pages of its own.
        package var holdsRows: Bool {
            if case .virtual = kind { false } else { true }
        }

        /// True for a table that never reuses a number.
        package var isAutoincrement: Bool {
            guard rowIDAlias != nil, let sql else { return false }
            var tokens = SQLTokenizer(sql)
            while let token = tokens.next() {
                if token.isWord("autoincrement") { return true }
            }
            return false
        }

        /// A name of the rowid in statements; nil if there is none, or if columns use all its names.
        package var rowIDName: String? {
            guard !isWithoutRowID, holdsRows else { return nil }
            if let rowIDAlias { return rowIDAlias }
            let taken = Set(columns.map { $0.name.lowercased() })
            return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
        }

        /// True if SQLite's incremental I/O reads single values: the table has a row number and no generated columns.
        package var opensSingleValues: Bool {
            rowIDName != nil && !columns.contains { $0.generation != .none }
        }

        /// The columns of the primary key in its order, including the rowid's alias.
        package var primaryKey: [Column] {
            columns.filter { $0.primaryKeyPosition > 0 }.sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }
        }

        /// Returns the column with that name, ignoring case.
        package func column(named name: String) -> Column? {
            let name = name.lowercased()
            return columns.first { $0.name.lowercased() == name }
        }
    }

    /// One column of a table.
    package struct Column: Hashable, Sendable {
        /// Whether, and how, SQLite computes the column's values.
        package enum Generation: Hashable, Sendable {
            case none
            /// Computed when read; nothing is stored.
            case virtual
            /// Computed when written.
            case stored
        }

        package let name: String
        /// The type as declared; empty without one.
        package let declaredType: String
        package let notNull: Bool
        /// The position in the primary key, from 1; 0 for a column that is not part of it.
        package let primaryKeyPosition: Int
        package let generation: Generation
        /// The default as an SQL expression.
        package let defaultValue: String?

        package var isGenerated: Bool { generation != .none }

        package init(
            name: String,
            declaredType: String = "",
            notNull: Bool = false,
            primaryKeyPosition: Int = 0,
            generation: Generation = .none,
            defaultValue: String? = nil
        ) {
            self.name = name
            self.declaredType = declaredType
            self.notNull = notNull
            self.primaryKeyPosition = primaryKeyPosition
            self.generation = generation
            self.defaultValue = defaultValue
        }
    }

    /// One index of a table.
    package struct Index: Hashable, Sendable {
        /// The origin of the index.
        package enum Origin: String, Hashable, Sendable {
            /// A `CREATE INDEX` statement.
            case statement = "c"
            /// A `UNIQUE` constraint.
            case uniqueConstraint = "u"
            /// A `PRIMARY KEY` constraint.
            case primaryKey = "pk"
        }

        /// One key column of an index.
        package struct Column: Hashable, Sendable {
            /// The column's name, the rowid's alias included; nil for an expression.
            package let name: String?
            package let isDescending: Bool
            package let collation: String
        }

        package let name: String
        package let isUnique: Bool
        package let origin: Origin
        /// True if a WHERE clause limits the indexed rows.
        package let isPartial: Bool
        package let columns: [Column]
        /// The definition as written; nil for an index created by a constraint.
        package let sql: String?
    }
}
