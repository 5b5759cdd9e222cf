import StoreAccess
import StoreFixtures
import StoreFormat
import TestSupport
import Testing

@Suite("Built stores, read with the code for genuine stores")
struct StoreLayoutTests {
    private static let recipes =
        [Fixtures.habitCalendar]
        + [
            "inheritance", "many-to-many", "ordered", "one-sided-relationship", "unusual-names", "all-types",
            "history-on",
        ]
        .map(Fixtures.recipe(ofStore:))

    private static func layout(_ connection: StoreConnection) throws -> StoreLayout {
        let cache = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob ?? []
        return StoreLayout(
            model: try ManagedObjectModel(modelCache: cache),
            schema: try StoreSchema(reading: connection),
            entityNumbers: try #require(try EntityNumbers(reading: connection))
        )
    }

    @Test("Every property of the model is found in the tables", arguments: recipes)
    func layout(_ recipe: String) throws {
        let scratch = try Scratch()
        try RecipeBuilder.build(recipeFile: recipe, at: scratch.location)
        let layout = try Self.layout(scratch.open())
        #expect(layout.unresolved.isEmpty, "\(layout.unresolved)")
        #expect(!layout.entities.isEmpty)
    }

    @Test("The history that is read equals the recipe's saves")
    func history() throws {
        let scratch = try Scratch()
        try scratch.build(store: "history-on")
        let connection = try scratch.open()
        let layout = try Self.layout(connection)
        let history = try #require(PersistentHistory(schema: StoreSchema(reading: connection)))
        let summary = try history.summary(reading: connection)
        #expect(summary == HistorySummary(transactions: 3, changes: 34, first: 1, last: 3))
        let changes = "SELECT ZCOLUMNS FROM ACHANGE WHERE ZCHANGETYPE = 1 AND ZENTITY = ?"
        let entity = try #require(layout.entities["Note"])
        let bitmap = try connection.value(changes, [.integer(entity.number)])?.blob ?? []
        #expect(entity.historySlots.properties(in: bitmap)?.names.sorted() == ["folder", "title"])
        let folder = try #require(layout.entities["Folder"])
        let owner = try connection.value(changes, [.integer(folder.number)])?.blob ?? []
        #expect(folder.historySlots.properties(in: owner)?.names == ["notes"])
    }
}
