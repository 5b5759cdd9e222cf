import Foundation
import ManagedObjects
import StoreAccess
import StoreFixtures
import StoreFormat
import TestSupport
import Testing

/// A store of random rows with every kind of attribute and relationship, and the same objects in memory.
struct Menagerie {
    static let recipe = """
        seed: menagerie
        model:
          entities:
            Being:
              abstract: true
              attributes:
                name: string
                link: uri
                born: date
                weight: double
                legs: integer16
                price: decimal
                isTame: boolean
                tag: uuid
                chip: binaryData
                picture: {type: binaryData, externalStorage: true}
              relationships:
                keeper: {to: Keeper, inverse: beings}
                foods: {to: Food, inverse: eaters, many: true}
                friends: {to: Being, inverse: friends, many: true}
            Cat:
              parent: Being
              attributes: {lives: integer32}
            Dog:
              parent: Being
              attributes: {lives: integer64, bark: float}
              relationships:
                rival: {to: Being}
            Puppy:
              parent: Dog
            Keeper:
              attributes: {name: string, age: integer64}
              relationships:
                beings: {to: Being, inverse: keeper, many: true, ordered: true}
                boss: {to: Keeper, inverse: staff}
                staff: {to: Keeper, inverse: boss, many: true}
                favourite: {to: Being}
            Food:
              attributes: {name: string, calories: double}
              relationships:
                eaters: {to: Being, inverse: foods, many: true}
        """

    private let scratch: ScratchFolder
    let location: StoreLocation
    let connection: StoreConnection
    let layout: StoreLayout
    let storeUUID: String
    let objects: [MenagerieObject]

    var compiler: PredicateCompiler { PredicateCompiler(layout: layout, storeUUID: storeUUID) }

    init(using generator: inout SeededGenerator, count: Int = 24) throws {
        scratch = try ScratchFolder()
        location = scratch.location("menagerie.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: Self.recipe), at: location)
        connection = try StoreConnection(location, access: .privateCopy)
        for function in SQLFunction.forPredicates() { try connection.install(function) }
        layout = try #require(try StoreLayout(reading: connection))
        storeUUID = try connection.value("SELECT Z_UUID FROM Z_METADATA")?.text ?? ""
        objects = MenagerieObject.random(count, layout: layout, storeUUID: storeUUID, using: &generator)
        try connection.execute("BEGIN")
        for object in objects { try object.insert(into: connection, layout) }
        try connection.execute("COMMIT")
    }

    /// The keys of an entity's objects that match a predicate's SQL, in order.
    func keys(_ predicate: ResolvedPredicate) throws -> [Int64] {
        let entity = predicate.entity
        let condition = try compiler.condition(predicate)
        let numbers = layout.entities.values.filter { layout.model.isEntity($0.name, kindOf: entity) }
            .map { String($0.number) }
        let sql = """
            SELECT t.Z_PK FROM \(SQLName.quoted(layout.entities[entity]?.table ?? "")) t
            WHERE t.Z_ENT IN (\(numbers.joined(separator: ","))) AND (\(condition.sql)) ORDER BY t.Z_PK
            """
        var keys: [Int64] = []
        try connection.forEachRow(sql, condition.arguments) { keys.append($0.integer(0)) }
        return keys
    }

    /// The keys of an entity's objects that match in memory.
    func keysInMemory(_ predicate: ResolvedPredicate) throws -> [Int64] {
        let evaluator = PredicateEvaluator(predicate)
        return try objects.filter { layout.model.isEntity($0.objectID.entityName, kindOf: predicate.entity) }
            .filter { try evaluator.matches($0) }.map(\.key).sorted()
    }
}
