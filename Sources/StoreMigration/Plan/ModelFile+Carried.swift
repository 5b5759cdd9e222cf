import StoreFormat

extension ModelFile {
    /// Opens the model of the programs named by `owner`.
    static func carried(by owner: String, at path: String) throws -> ModelFile {
        do {
            return try ModelFile(path: path)
        } catch {
            throw MigrationError(
                .usage,
                "cannot read the model of \(owner): \(error.message)",
                path: error.path,
                advice: "Name its model: a .momd, .mom, .xcdatamodeld or .xcdatamodel.",
                underlyingError: error
            )
        }
    }
}
