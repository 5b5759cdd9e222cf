import SafeFiles
import StoreAccess
import StoreFixtures
import StoreFormat
import StoreVerification
import StoreWriting
import TestSupport

/// A model cache: the input is its uncompressed content, or, where that is not a property list, the compressed bytes.
final class ModelCacheTarget: FuzzTarget {
    static let name = "model-cache"
    static let mostBytes = 64 << 10
    static let words = [
        "bplist00", "$archiver", "$objects", "$top", "$version", "$class", "$classname", "NSKeyedArchiver", "root",
        "NSManagedObjectModel", "NSEntityDescription", "NSAttributeDescription", "NSRelationshipDescription",
        "NSEntities", "NSProperties", "NSSuperentity", "NSSubentities", "NSDestinationEntity", "NSInverseRelationship",
        "NSDictionary", "NSMutableDictionary", "NSArray", "NSSet", "NS.keys", "NS.objects", "NSUniquenessConstraints",
        "NSVersionHashModifier", "NSRenamingIdentifier", "NSDefaultValue", "Shelf", "Book", "ZBOOK", "\"", "'",
    ]

    private static let recipe = """
        seed: model-cache
        options: {journalMode: rollback, pageSize: 1024}
        model:
          entities:
            Book:
              attributes: {title: string, pages: integer32}
              relationships:
                shelf: {to: Shelf, inverse: books}
                tags: {to: Tag, inverse: books, many: true, ordered: true}
            Shelf:
              attributes: {room: string}
              relationships:
                books: {to: Book, inverse: shelf, many: true}
            Tag:
              attributes: {name: string}
              relationships:
                books: {to: Book, inverse: tags, many: true}
        saves:
          - at: 2026-03-01
            insert:
              - {entity: Shelf, name: shelf, values: {room: "cellar"}}
              - {entity: Tag, name: tag, values: {name: "red"}}
              - {entity: Book, repeat: 3, values: {title: "Book {n}", pages: 1, shelf: shelf, tags: [tag]}}
        """

    private let folder: Directory
    private let location: StoreLocation
    private let main: [UInt8]

    init(in folder: Directory) throws {
        self.folder = folder
        location = StoreLocation(folder: folder.path, name: "S.sqlite")
        main = try BuiltStore(recipe: Self.recipe, in: folder).main
    }

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        let place = StoreLocation(folder: source.scratch.path, name: "S.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: recipe), at: place)
        let sql = "SELECT Z_CONTENT FROM Z_MODELCACHE"
        let own = try StoreReader().withView(of: place) { try $0.connection.value(sql) }
        source.scratch.removeContents()
        var caches = try source.blobs(sql)
        if case .blob(let bytes)? = own { caches.append(bytes) }
        return try caches.map { try Inflate.inflate($0, limit: 1 << 20) } + caches.prefix(3)
    }

    func run(_ bytes: [UInt8]) throws {
        let isArchive = bytes.starts(with: "bplist".utf8)
        let cache = isArchive ? try Deflate.deflate(bytes) : bytes
        let model = try ManagedObjectModel(modelCache: cache)
        // Tests a readable model against tables that do not match it, for one input in eight, since this is slow.
        guard bytes.reduce(UInt8(0), { $0 &* 31 &+ $1 }) & 7 == 0 else { return }
        _ = try ManagedObjectModel(modelCache: ModelCacheWriter.bytes(of: model))
        defer { folder.removeContents() }
        try folder.put(main, location.name)
        let connection = try StoreConnection(location, access: .privateCopy)
        try connection.run("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [.blob(cache)])
        try connection.close()
        try location.examine()
    }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? {
        PropertyListChanges.changed(bytes, using: &generator)
    }
}
