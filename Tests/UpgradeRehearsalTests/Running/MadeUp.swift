import UpgradeRehearsal

/// Scenarios for tests, with small stores.
enum MadeUp {
    /// A table with three rows; late ones are added by scenarios.
    static let plain =
        "{seed: x, sql: ['CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)', "
        + "{statement: \"INSERT INTO t (x) VALUES ('early {n}')\", repeat: 3}]}"
    /// Three objects and a history, all of them in the write-ahead log.
    static let managed = """
        {seed: y, options: {history: true, leftInWriteAheadLog: rows}, model: {entities: {Item: {attributes: {\
        title: {type: string, optional: false}, number: integer64, day: date}, relationships: {\
        box: {to: Box, inverse: items}}}, Box: {attributes: {name: string}, relationships: {\
        items: {to: Item, inverse: box, many: true}}}}}, saves: [{at: 2026-01-01, author: app, insert: [\
        {entity: Box, name: 'b{n}', repeat: 2, values: {name: 'Box {n}'}}, \
        {entity: Item, repeat: 3, values: {title: 'Item {n}', box: b1}}]}]}
        """

    /// Reads a scenario with the stores `old`, made from a recipe, and `new`, a path in an existing folder.
    static func scenario(_ steps: String, holds: String, recipe: String = plain, more: String = "") throws -> Scenario {
        try Scenario(
            yaml: """
                about: made up
                stores: {old: {at: app/Store.sqlite, recipe: \(recipe)}, new: {at: group/Store.sqlite}}
                files: {group/: {}}
                steps: \(steps)
                holds: \(holds)
                \(more)
                """,
            name: "made-up"
        )
    }

    /// Runs a scenario.
    static func report(
        _ steps: String,
        holds: String = "[{present: app}]",
        recipe: String = plain,
        more: String = ""
    ) throws -> ScenarioReport {
        try scenario(steps, holds: holds, recipe: recipe, more: more).rehearse()
    }
}
