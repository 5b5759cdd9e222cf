import SafeFiles
import StoreAccess
import StoreFixtures
import TestSupport

@testable import StoreMigration

/// Everything in both folders, for comparisons before and after.
struct World: Equatable {
    private let old: [String: FileState]
    private let container: [String: FileState]

    init(_ places: Places) throws {
        old = try places.old.everything()
        container = try places.container.everything()
    }
}

extension Places {
    /// Two folders with a store of the package's fixtures in the old one.
    init(fixture: String, name: String = "store.sqlite") throws {
        try self.init(name: name)
        try build(fixture, at: oldStore)
    }

    /// Builds a store of the package's fixtures.
    func build(_ fixture: String, at location: StoreLocation) throws {
        try RecipeBuilder.build(recipeFile: Fixtures.recipe(ofStore: fixture), at: location)
    }

    /// Writes an external file beside the store of the same name in `folder`.
    func writeExternalFile(
        _ file: String,
        _ byte: UInt8,
        count: Int,
        in folder: ScratchFolder,
        of store: StoreLocation? = nil
    ) throws {
        let support = try folder.directory.ensure((store ?? oldStore).supportFolderName)
        let external = try support.ensure(StoreLocation.externalDataFolderName)
        let output = try external.createFile(file, mode: 0o600)
        try [UInt8](repeating: byte, count: count).withUnsafeBytes { try output.write($0, at: 0) }
        try output.close()
    }

    /// The names and first bytes of the external files in `folder`; nil when there is no folder for them.
    func externalFiles(in folder: Directory) throws -> [String: UInt8]? {
        guard let external = try folder.externalData(of: oldStore) else { return nil }
        return try Dictionary(
            uniqueKeysWithValues: external.entries()
                .map { ($0, try external.contents(of: $0, limit: 1 << 20).first ?? 0) }
        )
    }

    /// The values of column `x` of table `t`, in order.
    func rows(of store: StoreLocation) throws -> [String] {
        try StoreReader()
            .withView(of: store) { view in
                var rows: [String] = []
                try view.connection.forEachRow("SELECT x FROM t ORDER BY x") { rows.append($0.text(0) ?? "") }
                return rows
            }
    }

    /// True when the store is fenced.
    func isFenced(_ location: StoreLocation) throws -> Bool {
        try StoreReader().withView(of: location) { try StoreFence(reading: $0.connection) } != nil
    }

    /// The records of the journal beside the old store; empty when there is none.
    func records() throws -> [JournalRecord] {
        guard try old.directory.status(of: StateFolder.name) != nil else { return [] }
        return try MigrationJournal.records(in: journalFolder())
    }

    func journalFolder() throws -> Directory {
        try old.directory.openDirectory(StateFolder.name).openDirectory(name)
    }

    /// The displaced files of a run.
    func aside(of transaction: String?) throws -> Directory {
        try container.directory.openDirectory(DisplacedFiles.name(for: transaction ?? ""))
    }
}

extension Directory {
    /// The folder `name`, created if missing.
    fileprivate func ensure(_ name: String) throws -> Directory {
        try status(of: name) == nil ? createDirectory(name, mode: 0o755) : openDirectory(name)
    }
}
