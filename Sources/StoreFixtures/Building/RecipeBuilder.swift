import SafeFiles
public import StoreAccess
public import StoreFormat
import StoreWriting

/// Builds stores from recipes.
public enum RecipeBuilder {
    /// The size of the built store.
    public struct Summary: Hashable, Sendable {
        /// Objects of a Core Data store, or rows of ordinary tables in plain SQLite; counted before the damage.
        public let objects: Int64
        public let externalFiles: Int
        /// The final bytes of main file, log, journal and external files.
        public let bytes: Int64
    }

    /// Builds the store of the recipe in a file; the folder must exist, without a file of the store's name.
    @discardableResult
    public static func build(recipeFile: String, at location: StoreLocation) throws -> Summary {
        try build(RecipeReader.recipe(inFile: recipeFile), at: location)
    }

    /// The model of the recipe in a file; nil for a recipe in SQL.
    public static func model(recipeFile: String) throws -> ManagedObjectModel? {
        guard case .model(let model, _) = try RecipeReader.recipe(inFile: recipeFile).content else { return nil }
        return model
    }

    /// Builds a store; after a failure its files are removed.
    @discardableResult
    package static func build(_ recipe: StoreRecipe, at location: StoreLocation) throws -> Summary {
        let directory = try Directory.open(path: location.folder)
        let names = [
            location.name, location.writeAheadLogName, location.sharedMemoryName, location.journalName,
            location.supportFolderName,
        ]
        for name in names where try directory.status(of: name) != nil {
            throw StoreError(
                .notWritable,
                path: location.folder + "/" + name,
                "the path exists already; choose a path without a store"
            )
        }
        do {
            let construction = try RecipeConstruction(recipe, at: location, in: directory)
            let objects = try construction.fill()
            let leftovers = try construction.breakContent()
            try construction.close()
            let breaker = FileBreaker(recipe: recipe, location: location, directory: directory)
            try breaker.write(leftovers)
            try breaker.run()
            try directory.synchronize()
            return try summary(objects, location, directory)
        } catch {
            StoreRemains.remove(location, from: directory)
            throw error
        }
    }

    private static func summary(
        _ objects: Int64,
        _ location: StoreLocation,
        _ directory: Directory
    ) throws -> Summary {
        var bytes: Int64 = 0
        for name in [location.name, location.writeAheadLogName, location.journalName] {
            bytes += try directory.status(of: name)?.size ?? 0
        }
        var externalFiles = 0
        if let folder = try StoreRemains.externalData(location, in: directory) {
            for name in try folder.entries() {
                bytes += try folder.status(of: name)?.size ?? 0
                externalFiles += 1
            }
        }
        return Summary(objects: objects, externalFiles: externalFiles, bytes: bytes)
    }
}

/// Removes the leftovers of a store that could not be built.
enum StoreRemains {
    /// The folder of external files, if there is one.
    static func externalData(_ location: StoreLocation, in directory: Directory) throws -> Directory? {
        guard try directory.status(of: location.supportFolderName) != nil else { return nil }
        let support = try directory.openDirectory(location.supportFolderName)
        guard try support.status(of: StoreLocation.externalDataFolderName) != nil else { return nil }
        return try support.openDirectory(StoreLocation.externalDataFolderName)
    }

    /// Removes every file of a store of ours; errors are ignored, since the build's error matters more.
    static func remove(_ location: StoreLocation, from directory: Directory) {
        let names = [
            location.name, location.writeAheadLogName, location.sharedMemoryName, location.journalName,
        ]
        for name in names { try? directory.removeFile(name) }
        guard let support = try? directory.openDirectory(location.supportFolderName) else { return }
        if let folder = try? support.openDirectory(StoreLocation.externalDataFolderName) {
            for name in (try? folder.entries()) ?? [] { try? folder.removeFile(name) }
            try? support.removeDirectory(StoreLocation.externalDataFolderName)
        }
        try? directory.removeDirectory(location.supportFolderName)
    }
}
