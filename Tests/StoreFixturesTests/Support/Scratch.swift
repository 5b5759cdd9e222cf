import Foundation
import SafeFiles
import StoreAccess
import StoreFixtures
import TestSupport

/// A temporary folder for one test, with a path for one store.
final class Scratch {
    private let folder: TemporaryDirectory
    let location: StoreLocation

    init(_ name: String = "Store.sqlite") throws {
        folder = try TemporaryDirectory(prefix: "store-fixtures-tests")
        location = StoreLocation(folder: folder.directory.path, name: name)
    }

    deinit { folder.remove() }

    var directory: Directory { folder.directory }

    /// The names of the store's existing files.
    var files: [String] { (try? folder.directory.entries()) ?? [] }

    func bytes(_ name: String) throws -> [UInt8] {
        try folder.directory.contents(of: name, limit: 1 << 26)
    }

    /// Opens the store with its log or journal, as a process that owns it would.
    func open() throws -> StoreConnection {
        try StoreConnection(location, access: .privateCopy)
    }

    /// Builds a recipe given as text.
    @discardableResult
    func build(_ yaml: String) throws -> RecipeBuilder.Summary {
        try RecipeBuilder.build(RecipeReader.recipe(from: yaml), at: location)
    }

    /// Builds one of the recipes in `Fixtures/Stores`.
    @discardableResult
    func build(store name: String) throws -> RecipeBuilder.Summary {
        try RecipeBuilder.build(recipeFile: Fixtures.recipe(ofStore: name), at: location)
    }
}

extension Fixtures {
    /// The names of the folders in `Fixtures/Stores`.
    static let names: [String] = (try? Directory.open(path: stores).entries()) ?? []
}

/// The `sqlite3` program, for independent checks.
enum SQLiteShell {
    private static let path = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static var isMissing: Bool { path == nil }

    /// Returns what `sqlite3` prints for a statement.
    static func output(_ location: StoreLocation, _ sql: String) throws -> String {
        try ChildProgram.run([path ?? "", "-batch", location.path, sql]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
