import SafeFiles
import StoreAccess
import StoreFixtures
import StoreFormat

/// The source of seeds: the recipes of `Fixtures`, and small genuine stores.
struct SeedSource {
    private static let mostBytes = 192 << 10

    /// The folder `Fixtures`.
    let fixtures: String
    /// The folder of genuine stores, if there is one.
    let corpus: String?
    /// Where stores are built.
    let scratch: Directory

    /// The texts of all recipes.
    func recipes() throws -> [(name: String, text: String)] {
        let folder = try Directory.open(path: fixtures + "/Stores")
        return try folder.entries()
            .map { name in
                let bytes = try folder.openDirectory(name).contents(of: "recipe.yaml", limit: 1 << 20)
                return (name, String(decoding: bytes, as: UTF8.self))
            }
    }

    /// The bytes of all scenarios.
    func scenarios() throws -> [[UInt8]] {
        let folder = try Directory.open(path: fixtures + "/Scenarios")
        return try folder.entries()
            .filter { try folder.status(of: $0)?.kind == .directory }
            .flatMap { name in
                let group = try folder.openDirectory(name)
                return try group.entries()
                    .filter { $0.hasSuffix(".yaml") && $0 != "recipe.yaml" }
                    .map { try group.contents(of: $0, limit: 1 << 20) }
            }
    }

    /// Every file of every small store, with its name: main files, logs and journals.
    func storeFiles() throws -> [(name: String, bytes: [UInt8])] {
        var files: [(String, [UInt8])] = []
        try forEachStore { place in files += try Self.files(in: place) }
        return files
    }

    /// The first value of an SQL query in each store with its tables.
    func blobs(_ sql: String) throws -> [[UInt8]] {
        var blobs: [[UInt8]] = []
        try forEachStore { place in
            for location in try StoreInspector.stores(in: place.path) {
                // Damaged and plain stores have no such table.
                let value = try? StoreReader(lockTimeout: .zero).withView(of: location) { try $0.connection.value(sql) }
                if case .blob(let bytes)? = value { blobs.append(bytes) }
            }
        }
        return blobs
    }

    /// Calls `body` with the folder of every small store, which is a copy.
    ///
    /// Recipes are built with small pages too, since fuzzing covers more of a small store in the same time.
    func forEachStore(_ body: (Directory) throws -> Void) throws {
        let place = try scratch.createDirectory("store", mode: 0o700)
        defer {
            place.removeContents()
            try? scratch.removeDirectory("store")
        }
        for (_, text) in try recipes() {
            for size in [nil, 512, 1024] {
                let text = size.map { Self.text(text, withPageSize: $0) } ?? text
                // Some damage is for the usual page size alone, and some recipes take another as their base.
                guard let recipe = try? RecipeReader.recipe(from: text, path: fixtures + "/Stores/x/recipe.yaml"),
                    (try? RecipeBuilder.build(recipe, at: StoreLocation(folder: place.path, name: "S.sqlite"))) != nil
                else { continue }
                try body(place)
                place.removeContents()
            }
        }
        guard let corpus else { return }
        let folder = try Directory.open(path: corpus)
        for name in try folder.entries() where try folder.status(of: name)?.kind == .directory {
            for (name, bytes) in try Self.files(in: folder.openDirectory(name)) { try place.put(bytes, name) }
            try body(place)
            place.removeContents()
        }
    }

    private static func text(_ text: String, withPageSize size: Int) -> String {
        text.contains("\noptions:\n")
            ? text.replacing("\noptions:\n", with: "\noptions:\n  pageSize: \(size)\n", maxReplacements: 1)
            : text + "\noptions: {pageSize: \(size)}\n"
    }

    private static func files(in folder: Directory) throws -> [(String, [UInt8])] {
        try folder.entries()
            .compactMap { name in
                guard let status = try folder.status(of: name), status.kind == .regular, status.size > 0,
                    status.size <= mostBytes
                else { return nil }
                return (name, try folder.contents(of: name, limit: mostBytes))
            }
    }
}
