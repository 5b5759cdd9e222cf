package import StoreFormat

/// A store as readable text: a model or SQL statements, the saves that fill it, and its damage.
///
/// Building a recipe twice gives the same content, the same UUIDs and, but for SQLite's random salts in a log or journal,
/// the same bytes.
package struct StoreRecipe: Sendable {
    /// The content of the write-ahead log after the store is closed.
    package enum LogRemainder: String, Sendable, CaseIterable {
        /// Nothing: the store is closed cleanly and has no sidecar.
        case nothing
        /// The saves after the last checkpoint; the schema is in the main file.
        case rows
        /// Schema and rows; the main file is one empty page.
        case everything
    }

    /// The layout of the store.
    package struct Options: Sendable {
        package var journalMode = StoreHeader.JournalMode.wal
        package var pageSize = 4096
        package var tracksHistory = false
        package var leftInLog = LogRemainder.nothing
        /// The bundle identifier that history records.
        package var bundle: String?
        /// The process name that history records.
        package var process: String?
        /// Metadata that the application set.
        package var metadata: [String: PropertyListValue] = [:]
    }

    /// The source of the store's schema and rows.
    package enum Content: Sendable {
        case model(ManagedObjectModel, saves: [RecipeSave])
        case statements([RecipeStatement])
    }

    /// The seed of all identifiers.
    package let seed: String
    package let options: Options
    package let content: Content
    package let damage: [RecipeDamage]
    /// The recipe's file; empty when the text came from elsewhere.
    package let path: String
}
