import SafeFiles
import StoreFormat

/// Gives an old store back to its writers because the store it was shared to is gone.
struct FenceLifting {
    private let context: RunContext

    init(_ context: RunContext) {
        self.context = context
    }

    func lift(_ journal: inout MigrationJournal) throws {
        let connection = try StoreConnection(
            context.old,
            access: .liveWriting,
            lockTimeout: context.options.effectiveLockTimeout
        )
        try connection.inTransaction(until: context.lockDeadline()) { try FenceWriter(connection).lift() }
        try connection.close()
        try journal.append(.unfenced)
    }
}
