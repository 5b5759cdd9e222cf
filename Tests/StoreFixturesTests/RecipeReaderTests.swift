import SafeFiles
import StoreFixtures
import Testing

@Suite("Reading recipes")
struct RecipeReaderTests {
    struct WrongRecipe: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let yaml: String
        let words: String
    }

    private static let model = """
        seed: x
        model:
          entities:
            Note:
              attributes: {title: string, size: integer16, day: date, data: binaryData}
              relationships:
                next: {to: Note, inverse: previous}
                previous: {to: Note, inverse: next}

        """

    private static let save = model + "saves:\n  - at: 2026-03-01\n    insert:\n"

    static let wrong = [
        WrongRecipe(testDescription: "nothing at all", yaml: "", words: "r.yaml:1:1: the recipe is empty"),
        WrongRecipe(
            testDescription: "not YAML",
            yaml: "seed: x\nsql: [a, b",
            words: "r.yaml:3:1: this is not YAML: did not find expected ',' or ']'"
        ),
        WrongRecipe(
            testDescription: "a key that is there twice",
            yaml: "seed: x\nsql: []\nseed: y\n",
            words: "r.yaml:3:1: the key 'seed' is there twice"
        ),
        WrongRecipe(
            testDescription: "a misspelt key",
            yaml: "seed: x\nsql: []\ndamages: []\n",
            words: "r.yaml:3:1: the key 'damages' is not known here; did you mean 'damage'?"
        ),
        WrongRecipe(testDescription: "no seed", yaml: "sql: []\n", words: "r.yaml:1:1: the key 'seed' is missing here"),
        WrongRecipe(
            testDescription: "neither model nor SQL",
            yaml: "seed: x\n",
            words: "r.yaml:1:1: the recipe has neither the key 'model' nor the key 'sql'"
        ),
        WrongRecipe(
            testDescription: "an invalid page size",
            yaml: "seed: x\noptions:\n  pageSize: 3000\nsql: []\n",
            words: "r.yaml:3:13: a page size is a power of two from 512 to 65536"
        ),
        WrongRecipe(
            testDescription: "rows in a log that the store does not have",
            yaml: "seed: x\noptions:\n  journalMode: rollback\n  leftInWriteAheadLog: rows\nsql: []\n",
            words: "r.yaml:4:24: only a store with the journal mode 'wal' has a write-ahead log"
        ),
        WrongRecipe(
            testDescription: "an unknown type",
            yaml: "seed: x\nmodel:\n  entities:\n    Note:\n      attributes:\n        title: text\n",
            words: "r.yaml:6:16: 'text' is not known here; expected is one of integer16, integer32, "
                + "integer64, decimal, double, float, string, boolean, date, binaryData, uuid, uri, transformable"
        ),
        WrongRecipe(
            testDescription: "a list where a mapping belongs",
            yaml: "seed: x\nmodel:\n  entities: [Note]\n",
            words: "r.yaml:3:13: a mapping (key: value) is expected here"
        ),
        WrongRecipe(
            testDescription: "an invalid date",
            yaml: model + "saves:\n  - at: 2026-02-30\n",
            words: "r.yaml:10:9: a date such as 2026-01-31 or 2026-01-31T08:00:00Z is expected here"
        ),
        WrongRecipe(
            testDescription: "an unknown damage",
            yaml: "seed: x\nsql: []\ndamage:\n  - melt: true\n",
            words: "r.yaml:4:5: the damage 'melt' is not known here; known are statement, greatestKey, "
                + "danglingRelationship, wrongEntity, missingIndexEntry, hotJournal, deleteExternalFile, "
                + "orphanExternalFile, truncateExternalFile, truncate, flipByte, remove, overwrite, "
                + "foreignWriteAheadLog, staleSharedMemory"
        ),
        WrongRecipe(
            testDescription: "a value of an unknown form",
            yaml: save + "      - {entity: Note, values: {title: {words: 3}}}\n",
            words:
                "r.yaml:12:40: a value is a scalar, a list, or a mapping with 'cycle', 'start' and 'step', or 'bytes'"
        ),
    ]

    @Test("A mistake is reported with file, line and column", arguments: wrong)
    func mistakes(_ recipe: WrongRecipe) {
        let error = #expect(throws: RecipeError.self) {
            try RecipeReader.recipe(from: recipe.yaml, path: "r.yaml")
        }
        #expect(error?.description == recipe.words)
    }

    @Test("Deeply nested aliases are refused before they are expanded")
    func aliases() throws {
        let levels = (1...30).map { "  - ? &a\($0) [*a\($0 - 1), *a\($0 - 1)]\n    : x\n" }.joined()
        let error = #expect(throws: RecipeError.self) {
            try RecipeReader.recipe(from: "seed: x\nsql:\n  - &a0 x\n" + levels, path: "r.yaml")
        }
        let words = "r.yaml:36:13: there are more than 32 aliases; write out what they stand for"
        #expect(error?.description == words)
        let list = Array(repeating: "*a", count: YAMLNode.mostAliases).joined(separator: ", ")
        #expect(try RecipeReader.recipe(from: "seed: &a x\nsql: [" + list + "]\n").seed == "x")
        #expect(throws: RecipeError.self) { try RecipeReader.recipe(from: "seed: &a x\nsql: [*a, " + list + "]\n") }
        let products = "seed: x\nsql: [" + Array(repeating: "SELECT a &b *b *c", count: 33).joined(separator: ", ")
        #expect(try RecipeReader.recipe(from: products + "]\n").seed == "x")
    }

    @Test("A recipe that nests too deeply, or is two, is refused")
    func bounds() {
        let deep = "seed: x\nsql: " + String(repeating: "[", count: 100_000)
        let two = "seed: x\n---\nseed: y\n"
        let unknown = "seed: *x\n"
        let mistakes = [
            (deep, "r.yaml:2:69: there are more than 64 levels"), (two, "r.yaml:2:1: there are several documents"),
            (unknown, "r.yaml:1:7: there is no anchor of this name"),
        ]
        for (yaml, words) in mistakes {
            let error = #expect(throws: RecipeError.self) { try RecipeReader.recipe(from: yaml, path: "r.yaml") }
            #expect(error?.description == words)
        }
    }

    static let unbuildable = [
        WrongRecipe(
            testDescription: "an unknown entity",
            yaml: save + "      - {entity: Letter}\n",
            words: "r.yaml:12:9: the model has no entity Letter"
        ),
        WrongRecipe(
            testDescription: "an unknown property",
            yaml: save + "      - {entity: Note, values: {titel: a}}\n",
            words: "r.yaml:12:33: Note has no property 'titel'"
        ),
        WrongRecipe(
            testDescription: "a text for a number",
            yaml: save + "      - {entity: Note, values: {size: big}}\n",
            words: "r.yaml:12:39: the value does not fit the type of 'size'"
        ),
        WrongRecipe(
            testDescription: "a number that is too large",
            yaml: save + "      - {entity: Note, values: {size: 40000}}\n",
            words: "r.yaml:12:9: the value does not fit the type of Note.size"
        ),
        WrongRecipe(
            testDescription: "an unknown name of an object",
            yaml: save + "      - {entity: Note, values: {next: other}}\n",
            words: "r.yaml:12:39: no object is called 'other' here; objects are named with 'name'"
        ),
        WrongRecipe(
            testDescription: "one name for many objects",
            yaml: save + "      - {entity: Note, name: a, repeat: 2}\n",
            words: "r.yaml:12:9: the name of repeated objects must contain {n}"
        ),
        WrongRecipe(
            testDescription: "one name twice",
            yaml: save + "      - {entity: Note, name: a}\n      - {entity: Note, name: a}\n",
            words: "r.yaml:13:9: two objects are called 'a'"
        ),
        WrongRecipe(
            testDescription: "invalid SQL",
            yaml: "seed: x\nsql:\n  - CREATE TABEL t\n",
            words: "r.yaml:3:5: SQLite reports: near \"TABEL\": syntax error (code 1)"
        ),
        WrongRecipe(
            testDescription: "an invalid model",
            yaml: "seed: x\nmodel:\n  entities:\n    A: {parent: B}\n",
            words: "r.yaml: no store can be made of the model: entity A has an unknown parent B"
        ),
        WrongRecipe(
            testDescription: "an unknown index",
            yaml: "seed: x\nsql: []\ndamage:\n  - missingIndexEntry: {index: i, row: 1}\n",
            words: "r.yaml:4:5: the store has no index 'i'"
        ),
        WrongRecipe(
            testDescription: "a byte beyond the end",
            yaml: "seed: x\nsql: [CREATE TABLE t (a)]\ndamage:\n  - flipByte: {file: main, offset: 99999}\n",
            words: "r.yaml:4:5: the file has no byte at 99999"
        ),
    ]

    @Test("A recipe that cannot be built fails with its position, and leaves no file", arguments: unbuildable)
    func cannotBeBuilt(_ recipe: WrongRecipe) throws {
        let scratch = try Scratch()
        let error = #expect(throws: RecipeError.self) {
            try RecipeBuilder.build(RecipeReader.recipe(from: recipe.yaml, path: "r.yaml"), at: scratch.location)
        }
        #expect(error?.description == recipe.words)
        #expect(scratch.files == [])
    }

    @Test(
        "Building over an existing file fails",
        arguments: ["Store.sqlite", "Store.sqlite-wal", ".Store_SUPPORT"]
    )
    func occupied(_ name: String) throws {
        let scratch = try Scratch()
        try scratch.directory.createFile(name, mode: 0o600).close()
        #expect(throws: (any Error).self) { try scratch.build("seed: x\nsql: [CREATE TABLE t (a)]\n") }
        #expect(scratch.files == [name])
        #expect(try scratch.bytes(name).isEmpty)
    }
}
