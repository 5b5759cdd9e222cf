import SafeFiles
import StoreFormat

/// Removes an old store's fence because the store it was shared to is missing.
struct FenceLifting {
    private let context: RunContext

    init(_ context: RunContext) {
        self.context = context
    }

    func lift(_ journal: inout MigrationJournal) throws {
        try FenceWriter.lift(from: context.old, lockTimeout: context.surroundings.lockTimeout)
        try journal.append(.unfenced)
    }
}
