import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFixtures
import StoreFormat
import StoreStrategies

/// A predicate format: parsed, and evaluated over a small store both in SQL and in memory, which must agree.
final class PredicateTarget: FuzzTarget {
    static let name = "predicate"
    static let mostBytes = 512
    static let words = [
        "AND", "OR", "NOT", "&&", "||", "!", "ANY", "ALL", "NONE", "SOME", "IN", "BETWEEN", "BEGINSWITH", "ENDSWITH",
        "CONTAINS", "LIKE", "MATCHES", "[cd]", "[c]", "==", "!=", "<=", ">=", "SELF", "objectID", "entity", "nil",
        "NULL",
        "TRUEPREDICATE", "FALSEPREDICATE", "YES", "NO", "%@", "%K", "%d", "%lld", "$x", "#name", "SUBQUERY(",
        ", $x, $x.",
        ").@count", "@count", "@sum", "@avg", "@min", "@max", "CAST(", "\"NSDate\")", "now()", "{1, 2}", "title",
        "pages", "price", "weight", "isRead", "bought", "cover", "key", "link", "shelf", "shelf.room", "tags",
        "tags.name",
        "books", "books.pages", "'Book 1'", "\"*b?\"", "0x1F", "1e10", "-1", "\\u0041", "9223372036854775807",
    ]

    private static let recipe = """
        seed: predicate
        options: {journalMode: rollback}
        model:
          entities:
            Book:
              attributes:
                title: string
                pages: integer32
                price: decimal
                weight: double
                isRead: boolean
                bought: date
                cover: binaryData
                key: uuid
                link: uri
              relationships:
                shelf: {to: Shelf, inverse: books}
                tags: {to: Tag, inverse: books, many: true, ordered: true}
            Comic:
              parent: Book
              attributes: {colours: integer64}
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
              - {entity: Shelf, name: cellar, values: {room: "Cellar"}}
              - {entity: Shelf, name: attic, values: {room: "Dächer"}}
              - {entity: Tag, name: "tag{n}", repeat: 3, values: {name: "Tag {n}"}}
              - {entity: Book, repeat: 3, values: {title: "Book {n}", pages: {start: 1, step: 7}, price: 12.5, weight: 0.1, isRead: true, bought: 2026-02-01, cover: {bytes: 4}, key: auto, shelf: cellar, tags: [tag1, tag2]}}
              - {entity: Book, values: {title: "ÉTÉ", pages: -2147483648, price: NaN, weight: -0.0, isRead: false, shelf: attic}}
              - {entity: Comic, values: {title: "", pages: 0, colours: 9223372036854775807, tags: [tag3], link: "https://example.com/a"}}
              - {entity: Comic, values: {}}
        """

    private let context: ManagedObjectContext
    private let coordinator: PersistentStoreCoordinator
    private let model: ManagedObjectModel

    init(in folder: Directory) throws {
        let location = StoreLocation(folder: folder.path, name: "S.sqlite")
        let recipe = try RecipeReader.recipe(from: Self.recipe)
        try RecipeBuilder.build(recipe, at: location)
        guard case .model(let model, _) = recipe.content else { throw StoreError(.failed, path: "", "no model") }
        self.model = model
        coordinator = PersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(with: PersistentStoreDescription(url: location.url))
        context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    }

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        [
            "title == 'Book 1'", "pages > 3 AND NOT (weight <= 0.1 OR isRead == YES)", "shelf.room BEGINSWITH[cd] 'da'",
            "ANY tags.name LIKE 'T*1'", "ALL tags.name CONTAINS[c] 'TAG'", "tags.@count > 1", "price BETWEEN {1, 20}",
            "SUBQUERY(tags, $t, $t.name == 'Tag 1').@count > 0", "pages IN {1, 8, nil}", "title MATCHES 'B.*[0-9]'",
            "bought < CAST(800000000, 'NSDate')", "SELF IN %@ AND %K == %d", "cover != nil || key == nil",
            "NONE books.title == nil", "books.@sum.pages >= 0x10", "books.@max.price == 12.5", "#title ENDSWITH 'É'",
            "entity.name == 'Comic'", "colours == 9223372036854775807", "TRUEPREDICATE",
            "link == 'https://example.com/a'",
            "-1.5e3 < pages", "title == $x", "shelf == nil AND tags.@avg.pages = nil", "ANY books.tags.@count == 2",
        ]
        .map { Array($0.utf8) }
    }

    func run(_ bytes: [UInt8]) throws {
        guard let format = String(validating: bytes, as: UTF8.self) else { return }
        let predicate = try FetchPredicate(format: format, argumentArray: Self.arguments(for: format))
        for entity in ["Book", "Comic", "Shelf", "Tag"] { try compare(predicate, of: entity) }
    }

    /// The arguments for the format's placeholders, with types that follow from the placeholders.
    private static func arguments(for format: String) throws -> [(any PredicateArgument)?] {
        var arguments: [(any PredicateArgument)?] = []
        var rest = format.unicodeScalars[...]
        while let place = rest.firstIndex(of: "%") {
            rest = rest[rest.index(after: place)...]
            let number = arguments.count
            switch rest.first {
            case "K": arguments.append(["title", "pages", "shelf.room", "tags"][number % 4])
            case "@":
                let uri = "x-coredata://9A1C1E37-5A2B-4F8E-8B6E-0C1D2E3F4A5B/Book/p\(number)"
                let some: [(any PredicateArgument)?] = [
                    "Book 1", 8, nil, [1, 2, 3], Date(timeIntervalSinceReferenceDate: 0), Decimal(12), uri, 0.1,
                ]
                arguments.append(some[number % some.count])
            default: arguments.append(number)
            }
        }
        return arguments
    }

    private func compare(_ predicate: FetchPredicate, of entity: String) throws {
        let resolved: ResolvedPredicate
        do {
            resolved = try predicate.resolved(for: entity, in: model)
        } catch {
            // The predicate may be valid for one entity only.
            return
        }
        try context.performAndWait { context in
            let all = try context.fetch(FetchRequest(entityName: entity))
            let evaluator = PredicateEvaluator(resolved)
            let inMemory = Result { try all.filter { try evaluator.matches($0) }.map(\.objectID) }
            let inStore = Result {
                try context.fetch(FetchRequest(entityName: entity, predicate: predicate)).map(\.objectID)
            }
            switch (inMemory, inStore) {
            case (.success(let some), .success(let others)):
                guard Set(some) == Set(others), some.count == others.count else {
                    Fuzzing.fail("\(some.count) objects of \(entity) match in memory and \(others.count) in the store")
                }
            case (.failure(let error), .failure), (.failure(let error), _), (_, .failure(let error)): throw error
            }
        }
    }
}
