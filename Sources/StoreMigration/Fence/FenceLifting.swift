import SafeFiles
import StoreFormat

/// Gives an old store back to its writers because the store it was shared to is gone.
struct FenceLifting {
    private let context: RunContext

    init(_ context: RunContext) {
        self.context = context
    }

    func lift(_ journal: inout MigrationJournal) throws {
        try FenceWriter.lift(from: context.old, lockTimeout: context.options.effectiveLockTimeout)
        try journal.append(.unfenced)
    }
}
