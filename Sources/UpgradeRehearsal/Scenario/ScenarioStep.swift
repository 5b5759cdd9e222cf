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
        /// Stops the process; `isEnded` says that iOS must be expected to end it for its locks.
        case suspend(process: String, isEnded: Bool)
        case proceed(process: String)
        case files([FileChange])
        case check([Expectation])
        case mark(String)
        case together([ScenarioStep])
    }

    package let action: Action
    /// The key, and enough of the rest to identify the step.
    package let title: String
    package let position: RecipePosition
}
