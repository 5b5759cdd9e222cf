import SafeFiles
import StoreAccess
import StoreWriting

/// Damages the files of a closed store, without SQLite.
struct FileBreaker {
    /// The maximum size of another store's log.
    private static let largestLog = 64 * 1_048_576

    let recipe: StoreRecipe
    let location: StoreLocation
    let directory: Directory

    /// Replaces the cleanly closed files by those of an interrupted transaction.
    func write(_ leftovers: JournalLeftovers?) throws {
        guard let leftovers else { return }
        try overwrite(location.name, with: leftovers.main)
        try overwrite(location.journalName, with: leftovers.journal)
    }

    /// Does the recipe's damage, in its order.
    func run() throws {
        for damage in recipe.damage where !damage.needsConnection {
            do {
                try apply(damage.kind, damage.position)
            } catch let error as FileError {
                throw RecipeError(path: recipe.path, position: damage.position, "the damage failed (\(error))")
            }
        }
    }

    private func apply(_ kind: RecipeDamage.Kind, _ position: RecipePosition) throws {
        switch kind {
        case .deleteExternalFile:
            let (folder, name) = try externalFile(position)
            try folder.removeFile(name)
        case .truncateExternalFile(let bytes):
            let (folder, name) = try externalFile(position)
            let file = try folder.openFile(name, for: .writing)
            try file.truncate(to: bytes)
            try file.close()
        case .orphanExternalFile(let bytes):
            let identifiers = SeededIdentifiers(seed: recipe.seed + ".orphan")
            let name = SeededIdentifiers.text(of: identifiers.identifier(named: "orphan"))
            try ExternalDataWriter(location, in: directory, identifiers: identifiers)
                .write(RecipeValues.bytes(bytes, filledWith: "orphan "), as: name)
        case .truncate(let file, let bytes):
            let file = try directory.openFile(name(of: file), for: .writing)
            try file.truncate(to: bytes)
            try file.close()
        case .flipByte(let file, let offset): try flipByte(name(of: file), offset, position)
        case .remove(let file): try directory.removeFile(name(of: file))
        case .overwrite(let file, let text): try overwrite(name(of: file), with: Array(text.utf8))
        case .foreignWriteAheadLog(let other): try bringLog(of: other, position)
        case .staleSharedMemory(let bytes):
            try overwrite(location.sharedMemoryName, with: RecipeValues.bytes(bytes, filledWith: "stale "))
        case .statement, .greatestKey, .danglingRelationship, .wrongEntity, .missingIndexEntry, .hotJournal: break
        }
    }

    private func name(of file: RecipeDamage.File) -> String {
        switch file {
        case .main: location.name
        case .writeAheadLog: location.writeAheadLogName
        case .sharedMemory: location.sharedMemoryName
        case .journal: location.journalName
        }
    }

    private func externalFile(_ position: RecipePosition) throws -> (folder: Directory, name: String) {
        guard let folder = try StoreRemains.externalData(location, in: directory),
            let name = try folder.entries().first
        else {
            throw RecipeError(path: recipe.path, position: position, "the store has no external file")
        }
        return (folder, name)
    }

    private func flipByte(_ name: String, _ offset: Int64, _ position: RecipePosition) throws {
        let file = try directory.openFile(name, for: .writing)
        let size = try file.status().size
        let place = offset < 0 ? size + offset : offset
        guard (0..<size).contains(place) else {
            throw RecipeError(path: recipe.path, position: position, "the file has no byte at \(offset)")
        }
        let source = try directory.openFile(name, for: .reading)
        var byte: [UInt8] = [0]
        _ = try byte.withUnsafeMutableBytes { try source.read(into: $0, at: place) }
        byte[0] ^= 0xFF
        try byte.withUnsafeBytes { try file.write($0, at: place) }
        try file.close()
    }

    /// Writes a complete file, new or existing.
    private func overwrite(_ name: String, with bytes: [UInt8]) throws {
        let isThere = try directory.status(of: name) != nil
        let file =
            try isThere
            ? directory.openFile(name, for: .writing) : directory.createFile(name, mode: 0o644)
        try file.truncate(to: 0)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.synchronize()
        try file.close()
    }

    private func bringLog(of other: String, _ position: RecipePosition) throws {
        let folder = RecipeReader.split(recipe.path).folder
        let path = other.hasPrefix("/") ? other : folder + "/" + other
        guard path != recipe.path else {
            throw RecipeError(path: recipe.path, position: position, "a recipe cannot add its own log as a foreign one")
        }
        let scratch = try TemporaryDirectory(prefix: "store-migrate-fixture")
        defer { scratch.remove() }
        let foreign = StoreLocation(folder: scratch.directory.path, name: "foreign.sqlite")
        let recipe = try RecipeReader.recipe(inFile: path)
        guard recipe.options.leftInLog != .nothing,
            !recipe.damage.contains(where: { if case .foreignWriteAheadLog = $0.kind { true } else { false } })
        else {
            throw RecipeError(
                path: self.recipe.path,
                position: position,
                "the other recipe must leave rows in its write-ahead log, and bring no foreign one itself"
            )
        }
        try RecipeBuilder.build(recipe, at: foreign)
        let log = try scratch.directory.contents(of: foreign.writeAheadLogName, limit: Self.largestLog)
        try overwrite(location.writeAheadLogName, with: log)
    }
}
