package import StoreFixtures

/// A store of a scenario: its name, its path, and what it is made from before the first step.
package struct ScenarioStore: Sendable {
    package let name: String
    /// Relative to the scratch folder.
    package let place: String
    /// Nil for a path without a store.
    package let source: StoreSource?
    package let position: RecipePosition
}

/// What a store is made from.
package enum StoreSource: Sendable {
    case recipe(StoreRecipe)
    /// A main file, copied with its sidecars and external files.
    case file(String)
}
