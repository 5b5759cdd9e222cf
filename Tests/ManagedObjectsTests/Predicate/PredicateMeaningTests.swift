import ManagedObjects
import StoreAccess
import StoreFixtures
import StoreFormat
import TestSupport
import Testing

/// The persons that a predicate matches in SQL, by key, in a store of four.
@Suite("Meaning of predicates")
struct PredicateMeaningTests {
    private static let recipe = """
        seed: meaning
        model:
          entities:
            Person:
              attributes: {name: string, age: integer16, born: date, id: uuid, height: decimal, isAdmin: boolean}
              relationships:
                boss: {to: Person, inverse: staff}
                staff: {to: Person, inverse: boss, many: true}
                pets: {to: Pet, inverse: owner, many: true}
            Guest: {parent: Person}
            Pet:
              attributes: {name: string}
              relationships:
                owner: {to: Person, inverse: pets}
        saves:
          - at: 2026-03-01
            insert:
              - entity: Person
                name: ann
                values: {name: Ann, age: 40, born: 1986-01-02, height: 1.75, isAdmin: true, id: 0A0B0C0D-0102-0304-0506-0708090A0B0C}
              - {entity: Person, name: bob, values: {name: Bob, age: 20, boss: ann, height: NaN, isAdmin: false}}
              - {entity: Guest, name: cem, values: {name: Çem, boss: bob, born: 2000-01-01T00:00:00.5Z}}
              - {entity: Guest, name: dan, values: {age: 60}}
              - {entity: Pet, values: {name: Rex, owner: ann}}
              - {entity: Pet, values: {name: Mia, owner: ann}}
              - {entity: Pet, values: {owner: bob}}
        """

    @Test(
        "A predicate matches the rows that NSPredicate matches, and nil differs from every value",
        arguments: [
            ("TRUEPREDICATE", "1234"), ("FALSEPREDICATE", ""), ("age == 20", "2"), ("age != 20", "134"),
            ("NOT age == 20", "134"), ("age < 50", "12"), ("NOT age < 50", "34"), ("20 < age", "14"),
            ("age == 20.0", "2"),
            ("age == nil", "3"), ("age != nil", "124"), ("age BETWEEN {20, 40}", "12"), ("age IN {20, 60, nil}", "234"),
            ("NOT age IN {20, 60}", "13"), ("age IN {}", ""), ("name == 'ann'", ""), ("name ==[c] 'ann'", "1"),
            ("name BEGINSWITH 'A'", "1"), ("name BEGINSWITH[cd] 'c'", "3"), ("NOT name CONTAINS 'n'", "234"),
            ("name LIKE '?o*'", "2"), ("name MATCHES '[A-B].*'", "12"), ("name < 'B'", "1"), ("isAdmin == YES", "1"),
            ("isAdmin == NO", "2"), ("isAdmin != YES", "234"), ("height > 1", "1"), ("height < 1e9", "1"),
            ("born == '1986-01-02'", "1"), ("born < '2000-01-01T00:00:01Z'", "13"),
            ("born == '2000-01-01T00:00:00.5Z'", "3"), ("born > CAST(0, 'NSDate')", ""), ("born < now()", "13"),
            ("id == '0a0b0c0d-0102-0304-0506-0708090a0b0c'", "1"), ("boss.name == 'Ann'", "2"),
            ("boss.boss.name == 'Ann'", "3"), ("boss.boss.name == nil", "124"), ("boss == nil", "14"),
            ("boss != nil", "23"), ("boss.name != 'Ann'", "134"), ("ANY staff.name == 'Bob'", "1"),
            ("ANY pets.name == nil", "2"), ("ALL pets.name == 'Rex'", "34"), ("NONE pets.name == 'Rex'", "234"),
            ("pets.@count == 2", "1"), ("pets.@count > staff.@count", "1"), ("boss.pets.@count == 0", "14"),
            ("ANY staff.pets.name == nil", "1"), ("ANY pets.owner == SELF", "12"), ("boss.boss == nil", "124"),
            ("boss IN boss.boss.staff", "3"), ("SELF IN boss.staff", "23"), ("entity == 'Guest'", "34"),
            ("entity.name IN {'Person'}", "12"), ("boss.entity == 'Person'", "23"), ("boss == boss.boss", "14"),
            ("SUBQUERY(staff, $x, $x.age > 10).@count > 0", "1"),
            ("SUBQUERY(pets, $p, $p.name == 'Rex' OR $p.name == 'Mia').@count == 2", "1"),
            ("SUBQUERY(staff, $x, $x.age < age).@count == 1", "1"),
            ("SUBQUERY(staff, $x, SUBQUERY($x.staff, $y, $y.boss == $x).@count == 1).@count == 1", "1"),
            ("SUBQUERY(staff, $x, ANY $x.pets.name == nil).@count > 0", "1"),
            ("SUBQUERY(boss.staff, $x, $x == SELF).@count == 1", "23"),
            ("staff.@sum.age == 20", "1"), ("staff.@sum.age == 0", "234"), ("staff.@avg.age == nil", "234"),
            ("staff.@max.age >= 20", "1"), ("staff.@min.born == nil", "134"), ("pets.@min.name == 'Mia'", "1"),
            ("boss.staff.@sum.age > 1", "2"), ("staff.@max.isAdmin == NO", "1"),
            ("1 == 1 AND age == 20", "2"), ("%@ == nil", "1234"), ("age > nil", ""),
        ]
    )
    func meaning(format: String, expected: String) throws {
        let scratch = try ScratchFolder()
        let location = scratch.location("store.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: Self.recipe), at: location)
        let connection = try StoreConnection(location, access: .privateCopy)
        for function in SQLFunction.forPredicates() { try connection.install(function) }
        let layout = try #require(try StoreLayout(reading: connection))
        let predicate =
            format.contains("%@") ? try FetchPredicate(format: format, nil) : try FetchPredicate(format: format)
        let fetch = try FetchRequest(entityName: "Person", predicate: predicate).resolved(in: layout.model)
        let statement = try FetchCompiler(layout: layout, storeUUID: "").identifiers(fetch)
        var keys = ""
        try connection.forEachRow(statement.sql, statement.arguments) { keys += "\($0.integer(0))" }
        #expect(keys == expected)
    }

    @Test("A predicate on object IDs matches objects of its store only")
    func identities() throws {
        let scratch = try ScratchFolder()
        let location = scratch.location("store.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: Self.recipe), at: location)
        let connection = try StoreConnection(location, access: .privateCopy)
        let layout = try #require(try StoreLayout(reading: connection))
        func keys(_ format: String, _ arguments: any PredicateArgument) throws -> [Int64] {
            let predicate = try FetchPredicate(format: format, arguments)
            let fetch = try FetchRequest(entityName: "Person", predicate: predicate).resolved(in: layout.model)
            let statement = try FetchCompiler(layout: layout, storeUUID: "S").identifiers(fetch)
            var keys: [Int64] = []
            try connection.forEachRow(statement.sql, statement.arguments) { keys.append($0.integer(0)) }
            return keys
        }
        func id(_ key: Int64, store: String = "S") -> ManagedObjectID {
            ManagedObjectID(entity: "Person", root: "Person", storeUUID: store, primaryKey: key)
        }
        #expect(try keys("SELF == %@", id(3)) == [3])
        #expect(try keys("SELF != %@", id(3)) == [1, 2, 4])
        #expect(try keys("SELF IN %@", [id(4), id(1)]) == [1, 4])
        #expect(try keys("boss == %@", id(1)) == [2])
        #expect(try keys("%@ IN staff", id(3)) == [2])
        #expect(try keys("ANY staff == %@", id(2)) == [1])
        #expect(try keys("SELF == %@", id(3, store: "T")) == [])
        #expect(try keys("boss != %@", id(1, store: "T")) == [1, 2, 3, 4])
        #expect(try keys("SELF IN %@", (2...40_000).map { id($0) }) == [2, 3, 4])
        let pet = ManagedObjectID(entity: "Pet", root: "Pet", storeUUID: "S", primaryKey: 1)
        #expect(try keys("SELF == %@", pet) == [])
        #expect(try keys("ANY pets == %@", pet) == [1])
    }
}
