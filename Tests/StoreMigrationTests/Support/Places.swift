import FoundationEssentials
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

/// An old folder and a container, with helpers for tests.
struct Places {
    let old: ScratchFolder
    let container: ScratchFolder
    let name: String

    init(name: String = "store.sqlite") throws {
        old = try ScratchFolder()
        container = try ScratchFolder()
        self.name = name
    }

    var oldStore: StoreLocation { old.location(name) }
    var newStore: StoreLocation { container.location(name) }

    func migrator(
        _ change: (inout ShareOptions) -> Void = { _ in },
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) -> StoreMigrator {
        var options = ShareOptions()
        options.lockTimeout = .seconds(60)
        change(&options)
        return StoreMigrator(from: oldStore.url, to: newStore.url, options: options, onProgress: onProgress)
    }

    @discardableResult
    func share(_ change: (inout ShareOptions) -> Void = { _ in }) throws -> ShareOutcome {
        try migrator(change).shareStoreIfNecessaryAndWait(isCancelled: nil)
    }

    /// Shares, and runs a closure at steps of the run.
    @discardableResult
    func share(
        _ change: (inout ShareOptions) -> Void = { _ in },
        onProgress: @escaping @Sendable (StoreProgress) -> Void
    ) throws -> ShareOutcome {
        try migrator(change, onProgress: onProgress).shareStoreIfNecessaryAndWait(isCancelled: nil)
    }

    /// The content digest of a store, without the fence.
    func digest(of location: StoreLocation) throws -> String {
        try StoreReader()
            .withView(of: location) { view in
                try StoreDigest(of: view.connection, externalData: view.externalData).value
            }
    }

    /// The count of a query, read without changing anything.
    func count(_ sql: String, in location: StoreLocation) throws -> Int64? {
        try StoreReader().withView(of: location) { try $0.connection.value(sql)?.integer }
    }

    /// Expects that a successful share leaves only the promised files.
    func expectTidy(extra: Set<String> = [], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let support = newStore.supportFolderName
        let allowed = Set([name, ".\(name).store-migrate.json", support]).union(extra)
        let left = try Set(container.directory.entries()).subtracting(allowed)
        #expect(left.isEmpty, "left in the container", sourceLocation: sourceLocation)
        let allowedOld = Set([
            name, name + "-wal", name + "-shm", oldStore.supportFolderName, ".store-migrate",
        ])
        let leftOld = try Set(old.directory.entries()).subtracting(allowedOld)
        #expect(leftOld.isEmpty, "left at the old path", sourceLocation: sourceLocation)
    }
}
