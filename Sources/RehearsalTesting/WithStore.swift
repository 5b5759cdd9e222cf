public import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreFixtures

/// Builds a store from a recipe in a scratch folder, hands its main file over, and removes all of it afterwards, also
/// when `body` throws.
///
/// `recipe` is the path of a recipe, relative to the folder of the calling source file; or the recipe itself, which is
/// recognised by its line breaks. Throws `RecipeError`, with line and column, for an invalid recipe.
public func withStore<R>(
    _ recipe: String,
    named name: String = "Store.sqlite",
    asking source: String = #filePath,
    _ body: (URL) throws -> R
) throws -> R {
    let store = try ScratchStore(recipe, named: name, asking: source)
    defer { store.remove() }
    return try body(store.url)
}

/// Does the same for an asynchronous `body`.
public func withStore<R>(
    _ recipe: String,
    named name: String = "Store.sqlite",
    asking source: String = #filePath,
    _ body: (URL) async throws -> R
) async throws -> R {
    let store = try ScratchStore(recipe, named: name, asking: source)
    defer { store.remove() }
    return try await body(store.url)
}

/// A store that a recipe describes, in a folder of its own.
private struct ScratchStore {
    private let folder: TemporaryDirectory
    let url: URL

    init(_ recipe: String, named name: String, asking source: String) throws {
        folder = try TemporaryDirectory(prefix: "store-migrate-store")
        let location = StoreLocation(folder: folder.directory.path, name: name)
        if recipe.contains("\n") {
            try RecipeBuilder.build(RecipeReader.recipe(from: recipe), at: location)
        } else {
            let base = source.lastIndex(of: "/").map { String(source[..<$0]) } ?? "."
            try RecipeBuilder.build(recipeFile: recipe.hasPrefix("/") ? recipe : base + "/" + recipe, at: location)
        }
        url = location.url
    }

    func remove() { folder.remove() }
}
