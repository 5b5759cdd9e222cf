import FoundationEssentials
import ManagedObjectGeneration
import StoreFixtures
import TestSupport
import Testing

@Suite("The models of one target")
struct TargetModelsTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write("Books.model.yaml", Array(Self.recipe("Book", "title", "pages").utf8))
        try RecipeBuilder.build(recipeFile: scratch.path + "/Books.model.yaml", at: scratch.location("Books.sqlite"))
    }

    private static func recipe(_ entity: String, _ attributes: String...) -> String {
        """
        seed: books
        model:
          entities:
            \(entity):
              attributes: {\(attributes.map { "\($0): string" }.joined(separator: ", "))}

        """
    }

    private func texts(_ names: String...) throws -> [String] {
        try TargetModels(names.map { try TargetModels.Member(path: scratch.path + "/" + $0) }).texts
    }

    @Test("A model and its store have one set of classes, that of the model, in any order")
    func modelAndStore() throws {
        for names in [["Books.sqlite", "Books.model.yaml"], ["Books.model.yaml", "Books.sqlite"]] {
            let texts = try texts(names[0], names[1])
            let (store, model) = names[0] == "Books.sqlite" ? (texts[0], texts[1]) : (texts[1], texts[0])
            #expect(store == "// The classes of Books.sqlite are those of Books.model.yaml.\n")
            #expect(model.contains("open class Book:"))
        }
    }

    @Test("A store of an earlier version of the model beside it has the classes of the model")
    func earlierVersion() throws {
        try scratch.write("New.model.yaml", Array(Self.recipe("Book", "title", "pages", "author").utf8))
        let texts = try texts("Books.sqlite", "New.model.yaml")
        #expect(texts[0].contains("are those of New.model.yaml") && texts[1].contains("var author: String?"))
    }

    @Test("A store of an earlier version has no class for an entity that the model beside it lacks")
    func removedEntity() throws {
        let entities = ["Author", "Book", "Shelf"].map { "    \($0):\n      attributes: {title: string}\n" }
        let recipe = { (entities: ArraySlice<String>) in "seed: books\nmodel:\n  entities:\n" + entities.joined() }
        try scratch.write("Old.yaml", Array(recipe(entities[...]).utf8))
        try RecipeBuilder.build(recipeFile: scratch.path + "/Old.yaml", at: scratch.location("Old.sqlite"))
        try scratch.write("Two.model.yaml", Array(recipe(entities[..<2]).utf8))
        let texts = try texts("Old.sqlite", "Two.model.yaml")
        #expect(
            texts[0] == "// The classes of Old.sqlite are those of Two.model.yaml.\n// That model has no class Shelf.\n"
        )
        // A store that has a name in common by chance is another model's.
        try scratch.write("One.model.yaml", Array(recipe(entities[1..<2]).utf8))
        #expect(throws: TargetModels.Clash.self) { try self.texts("Old.sqlite", "One.model.yaml") }
    }

    @Test("An SQLite file without a Core Data model has no classes, and a file that is damaged is reported")
    func plainDatabase() throws {
        let run = try ChildProgram.run(["sqlite3", scratch.path + "/Plain.sqlite", "CREATE TABLE t (x)"])
        #expect(run.status == 0)
        let texts = try texts("Plain.sqlite", "Books.sqlite")
        #expect(texts[0] == "// Plain.sqlite is no Core Data store, and has no classes.\n")
        #expect(texts[1].contains("open class Book:"))
        try scratch.write("Bad.mom", Array("bplist00".utf8))
        #expect(throws: (any Error).self) { try self.texts("Bad.mom") }
    }

    @Test("Two models with different classes of one name are an error that names both and the class")
    func clash() throws {
        try scratch.write("Other.model.yaml", Array(Self.recipe("book", "shelf").utf8))
        let error = #expect(throws: TargetModels.Clash.self) { try texts("Books.model.yaml", "Other.model.yaml") }
        let message = error.map(String.init(describing:)) ?? ""
        for word in ["Books.model.yaml", "Other.model.yaml", "class Book"] { #expect(message.contains(word)) }
    }

    @Test("Models with different classes have them all")
    func differentModels() throws {
        try scratch.write("Music.model.yaml", Array(Self.recipe("Song", "title").utf8))
        let texts = try texts("Books.model.yaml", "Music.model.yaml")
        #expect(texts[0].contains("open class Book:") && texts[1].contains("open class Song:"))
    }
}
