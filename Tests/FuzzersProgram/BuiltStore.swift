import SafeFiles
import StoreAccess
import StoreFixtures

/// The files of a store that was built from a recipe; a missing file has no bytes.
struct BuiltStore {
    private static let mostBytes = 1 << 20

    let main: [UInt8]
    let log: [UInt8]
    let journal: [UInt8]

    /// Builds the store in a temporary folder.
    init(recipe: String, in folder: Directory) throws {
        let place = try folder.createDirectory("built", mode: 0o700)
        let location = StoreLocation(folder: place.path, name: "S.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: recipe), at: location)
        func bytes(of name: String) throws -> [UInt8] {
            try place.status(of: name) == nil ? [] : place.contents(of: name, limit: Self.mostBytes)
        }
        main = try bytes(of: location.name)
        log = try bytes(of: location.writeAheadLogName)
        journal = try bytes(of: location.journalName)
        place.removeContents()
        try folder.removeDirectory("built")
    }
}
