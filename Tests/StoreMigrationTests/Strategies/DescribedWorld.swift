import BuiltInStrategies
import StoreAccess
import StoreFixtures
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

/// A Core Data store at the old path, without a history unless the recipe has one, to be shared with strategies.
struct DescribedWorld {
    let places: Places

    init(mode: String = "wal", recipe: String = "clean") throws {
        places = try Places(name: "Habits.sqlite")
        try RecipeBuilder.build(recipeFile: Fixtures.recipe(ofStore: recipe), at: places.oldStore)
        try places.execute("PRAGMA journal_mode=\(mode)")
    }

    @discardableResult
    func share(
        _ selections: [String],
        extensions: [String] = [],
        _ change: (inout ShareOptions) -> Void = { _ in },
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) throws -> ShareOutcome {
        let pipeline = StrategyPipeline(
            try selections.map { try StrategySelection($0).step(among: BuiltInStrategies.all) },
            roles: [ProgramRole(.app)] + extensions.map { ProgramRole(.extension($0)) }
        )
        return try share(pipeline, change, onProgress: onProgress)
    }

    @discardableResult
    func share(_ steps: [StrategyPipeline.Step]) throws -> ShareOutcome { try share(StrategyPipeline(steps)) }

    @discardableResult
    func share(
        _ pipeline: StrategyPipeline,
        _ change: (inout ShareOptions) -> Void = { _ in },
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) throws -> ShareOutcome {
        var options = ShareOptions()
        options.lockTimeout = .seconds(60)
        change(&options)
        return try StoreMigrator(
            from: places.oldStore.url,
            to: places.newStore.url,
            options: options,
            strategies: pipeline,
            onProgress: onProgress
        )
        .shareStoreIfNecessaryAndWait(isCancelled: nil)
    }

    /// Expects empty, numbered history tables in the new store, and none in the old one.
    func expectHistory(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let tables =
            "SELECT count(*) FROM sqlite_schema WHERE name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING')"
        let numbers = "SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT IN (16001, 16002, 16003) AND Z_MAX = 0"
        for (sql, count) in [(tables, Int64(3)), (numbers, 3)] {
            #expect(try places.count(sql, in: places.newStore) == count, sourceLocation: sourceLocation)
            #expect(try places.count(sql, in: places.oldStore) == 0, sourceLocation: sourceLocation)
        }
    }
}

extension Places {
    /// Executes SQL in the old store, as another program would.
    func execute(_ sql: String) throws {
        let connection = try old.open(name)
        try connection.execute(sql)
        try connection.close()
    }
}
