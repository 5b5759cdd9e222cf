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
