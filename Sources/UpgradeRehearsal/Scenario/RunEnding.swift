package import StoreFixtures
package import StoreMigration

/// How a run of the tool must end.
package struct RunEnding: Sendable {
    /// Findings that must not be reported.
    package enum Unwanted: Sendable {
        case all
        case codes([String])
    }

    /// Any of these; nil where the outcome alone decides.
    package var statuses: [Int32]? = [0]
    package var outcomes: [MigrationOutcome]?
    package var findings: [String] = []
    package var unwanted = Unwanted.codes([])
    package var texts: [String] = []
    package var members: [(name: String, value: String)] = []
    /// Its position in the scenario; nil where the key is missing, which means status 0.
    package var position: RecipePosition?

    package init() {}
}
