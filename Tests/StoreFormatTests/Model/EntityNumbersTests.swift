import StoreFormat
import TestSupport
import Testing

@Suite("Entity numbers")
struct EntityNumbersTests {
    @Test("Entity numbers give roots and subtrees")
    func tree() {
        let numbers = EntityNumbers([
            .init(number: 16_001, name: "CHANGE"), .init(number: 3, name: "C", parent: 2),
            .init(number: 1, name: "A", max: 9), .init(number: 2, name: "B", parent: 1), .init(number: 4, name: "D"),
        ])
        #expect(numbers.entries.map(\.number) == [1, 2, 3, 4, 16_001])
        #expect(numbers.modelEntries.map(\.name) == ["A", "B", "C", "D"])
        #expect(numbers.roots.map(\.name) == ["A", "D", "CHANGE"])
        #expect(numbers.root(of: 3) == 1)
        #expect(numbers.root(of: 99) == nil)
        #expect(numbers.subtree(of: 1) == [1, 2, 3])
        #expect(numbers.subtree(of: 99) == [])
        #expect(numbers.number(of: "D") == 4)
        #expect(numbers.hasSubentities(2))
        #expect(!numbers.hasSubentities(3))
    }

    @Test("Entity numbers with cycles or missing parents are tolerated")
    func malformed() {
        let numbers = EntityNumbers([
            .init(number: 1, name: "A", parent: 2), .init(number: 2, name: "B", parent: 1),
            .init(number: 3, name: "C", parent: 3), .init(number: 4, name: "D", parent: 77),
        ])
        for number: Int64 in 1...4 { #expect(numbers.root(of: number) == nil) }
        #expect(numbers.subtree(of: 1) == [1, 2])
        #expect(numbers.subtree(of: 3) == [3])
    }

    @Test("A renamed entity takes the number of its former name, or of the only unknown name at its place")
    func renamed() {
        func entity(_ name: String, _ superentity: String? = nil, former: String? = nil) -> EntityDescription {
            EntityDescription(name: name, superentity: superentity, renamingIdentifier: former)
        }
        let numbers = EntityNumbers([
            .init(number: 1, name: "A", max: 9), .init(number: 2, name: "OldB", parent: 1),
            .init(number: 3, name: "OldC", parent: 2), .init(number: 4, name: "OldD"), .init(number: 5, name: "OldE"),
            .init(number: 16_001, name: "CHANGE"),
        ])
        func names(_ entities: [EntityDescription]) -> [String] {
            numbers.named(by: ManagedObjectModel(entities: entities)).entries.map(\.name)
        }
        let inherited = [entity("A"), entity("B", "A"), entity("C", "B")]
        #expect(
            names(inherited + [entity("D", former: "OldD"), entity("E")]) == ["A", "B", "C", "D", "E", "CHANGE"]
        )
        // Without identifiers, two entities may have either number.
        #expect(names(inherited + [entity("D"), entity("E")]) == ["A", "B", "C", "OldD", "OldE", "CHANGE"])
        // A parent may have a greater number than its child, and a damaged table may name two numbers alike.
        let odd = EntityNumbers([
            .init(number: 1, name: "OldC", parent: 2), .init(number: 2, name: "OldB"),
            .init(number: 3, name: "OldD"), .init(number: 4, name: "OldD"),
        ])
        let model = ManagedObjectModel(entities: [entity("B"), entity("C", "B"), entity("D", former: "OldD")])
        #expect(odd.named(by: model).entries.map(\.name) == ["OldC", "OldB", "D", "OldD"])
        #expect(
            EntityNumbers(Array(odd.entries.prefix(3))).named(by: model).entries.map(\.name) == ["C", "B", "D"]
        )
        #expect(odd.named(by: model, guessing: false).entries.map(\.name) == ["OldC", "OldB", "D", "OldD"])
        let known = ["A", "OldB", "OldC", "OldD", "OldE"].map { entity($0) }
        #expect(names(known) == numbers.entries.map(\.name))
        #expect(names([entity("A"), entity("B", "OldD")])[1] == "OldB")
    }

    @Test("Invalid rows of Z_PRIMARYKEY are skipped")
    func reading() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(
            """
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            INSERT INTO Z_PRIMARYKEY VALUES (1, 'Habit', 0, 7), (2, NULL, 0, 0), (3, X'00', 0, 0), (-4, 'Low', 0, 0),
            (5, 'Odd', 'text', 'more text'), (9223372036854775807, 'High', -9223372036854775808, 9e99);
            CREATE TABLE other (x);
            """
        )
        let numbers = try #require(try EntityNumbers(reading: scratch.open()))
        #expect(numbers.entries.map(\.name) == ["Habit", "Odd", "High"])
        #expect(numbers.entry(1)?.max == 7)
        #expect(numbers.entry(5)?.parent == 0)
    }

    @Test("A store without Z_PRIMARYKEY, or with a different table of that name, has no entity numbers")
    func absent() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore("CREATE TABLE Z_PRIMARYKEY (x);")
        #expect(try EntityNumbers(reading: scratch.open()) == nil)
        try scratch.makeStore("CREATE TABLE t (x);", as: "other.sqlite")
        #expect(try EntityNumbers(reading: scratch.open("other.sqlite")) == nil)
    }
}
