import StoreFormat

extension ModelFile {
    /// Opens the model that programs carry; `owner` says whose it is.
    static func carried(by owner: String, at path: String) throws -> ModelFile {
        do {
            return try ModelFile(path: path)
        } catch {
            throw MigrationError(
                .usage,
                "the model of \(owner) cannot be read: \(error.message)",
                path: error.path,
                advice: "Name the model that it carries: a .momd, .mom, .xcdatamodeld or .xcdatamodel.",
                underlyingError: error
            )
        }
    }
}
