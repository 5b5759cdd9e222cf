package import StoreFixtures

/// One step of a scenario.
package struct ScenarioStep: Sendable {
    /// What is done.
    package indirect enum Action: Sendable {
        case verb(VerbCall)
        case make(store: String, StoreSource)
        case write(StoreWrite)
        case save(StoreSave)
        case start(ProcessStart)
        case stop(process: String)
        case kill(process: String)
        case files([FileChange])
        case check([Expectation])
        case mark(String)
        case together([ScenarioStep])
    }

    package let action: Action
    /// The key, and as much of the rest as names the step to a reader.
    package let title: String
    package let position: RecipePosition
}
