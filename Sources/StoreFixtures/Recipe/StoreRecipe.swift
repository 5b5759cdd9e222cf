package import StoreAccess
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

/// One save of a context: inserted, updated and deleted objects, in one transaction.
package struct RecipeSave: Sendable {
    /// Objects of one entity that are inserted alike.
    package struct Insertion: Sendable {
        package let entity: String
        /// The name by which other objects refer to it; `{n}` stands for the number of the repetition.
        package let name: String?
        package let count: Int64
        package let values: [RecipeProperty]
        package let position: RecipePosition
    }

    /// New values of an existing object.
    package struct Change: Sendable {
        package let object: String
        package let values: [RecipeProperty]
        package let position: RecipePosition
    }

    /// An object to delete.
    package struct Deletion: Sendable {
        package let object: String
        package let position: RecipePosition
    }

    package let author: String?
    package let context: String?
    /// Seconds since 2001-01-01T00:00:00Z.
    package let timestamp: Double
    package let insertions: [Insertion]
    package let changes: [Change]
    package let deletions: [Deletion]
    /// True when the log is folded into the main file afterwards.
    package let isCheckpointed: Bool
    package let position: RecipePosition
}

/// The value of one attribute or relationship.
package struct RecipeProperty: Sendable {
    package let name: String
    package let value: RecipeValue
    package let position: RecipePosition
}

/// One SQL statement, or several that differ by their number.
package struct RecipeStatement: Sendable {
    /// `{n}` stands for the number of the repetition, from 1.
    package let sql: String
    package let count: Int64
    /// True when the log is folded into the main file afterwards.
    package let isCheckpointed: Bool
    package let position: RecipePosition
}

/// A value in a recipe; its meaning depends on the property.
package struct RecipeValue: Sendable {
    /// The forms a value can take.
    package indirect enum Form: Sendable {
        case null
        /// A text in which `{n}` stands for the number of the repetition, from 1.
        case text(String)
        /// A first value and the distance to the next; the number of repetitions that share one value.
        case series(start: String, step: String, every: Int64)
        /// Values that take turns, each for `every` repetitions.
        case cycle([RecipeValue], every: Int64)
        /// `count` bytes, filled with a repeated text.
        case bytes(count: Int, fill: String)
        /// The destinations of a to-many relationship.
        case list([RecipeValue])
    }

    package let form: Form
    package let position: RecipePosition
}

/// One kind of damage to a store after it was built.
package struct RecipeDamage: Sendable {
    /// A file of the store.
    package enum File: String, Sendable, CaseIterable {
        case main
        case writeAheadLog
        case sharedMemory
        case journal
    }

    /// The kind of damage.
    package enum Kind: Sendable {
        /// A statement that Core Data would never execute.
        case statement(String)
        /// Sets the last assigned key (`Z_MAX`) of an entity.
        case greatestKey(entity: String, value: Int64)
        /// Makes a to-one relationship refer to a row that does not exist.
        case danglingRelationship(object: String, relationship: String)
        /// Writes another number as an object's entity (`Z_ENT`).
        case wrongEntity(object: String, number: Int64)
        /// Leaves a row out of an index, so that the two differ.
        case missingIndexEntry(index: String, row: Int64)
        /// Leaves a rollback journal that SQLite must play back, and the half-written main file it belongs to.
        case hotJournal(statements: [String])
        case deleteExternalFile
        case orphanExternalFile(bytes: Int)
        case truncateExternalFile(bytes: Int64)
        case truncate(File, bytes: Int64)
        /// Inverts one byte; a negative offset counts from the end.
        case flipByte(File, offset: Int64)
        case remove(File)
        case overwrite(File, text: String)
        /// Copies the write-ahead log of another recipe's store beside this one.
        case foreignWriteAheadLog(recipe: String)
        /// Writes a stale shared-memory file beside the store.
        case staleSharedMemory(bytes: Int)
    }

    package let kind: Kind
    package let position: RecipePosition

    /// True for damage through SQLite, before the store is closed.
    var needsConnection: Bool {
        switch kind {
        case .statement, .greatestKey, .danglingRelationship, .wrongEntity, .missingIndexEntry, .hotJournal: true
        default: false
        }
    }
}

/// A position in a recipe.
public struct RecipePosition: Hashable, Sendable, CustomStringConvertible {
    /// Counted from 1.
    public let line: Int
    /// Counted from 1.
    public let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public var description: String { "\(line):\(column)" }
}

/// A mistake in a recipe, with its position.
public struct RecipeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The recipe's file; empty when the text came from elsewhere.
    public let path: String
    public let position: RecipePosition?
    /// What is wrong and what would be right, without a final full stop.
    public let message: String

    package init(path: String, position: RecipePosition?, _ message: String) {
        self.path = path
        self.position = position
        self.message = message
    }

    /// In the form `file:line:column: message`, which editors understand.
    public var description: String {
        let place = [path, position?.description ?? ""].filter { !$0.isEmpty }.joined(separator: ":")
        return place.isEmpty ? message : "\(place): \(message)"
    }
}
