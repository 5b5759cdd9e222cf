import FoundationEssentials
import ManagedObjects
import StoreFixtures
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

/// One small store that many sequences use in turn: making a store for each would take most of the time.
final class SequenceStack {
    private static let recipe = """
        seed: sequences
        model:
          entities:
            TestDummy:
              attributes: {id: integer64, name: string, isEven: boolean, group: string}
              relationships:
                owner: {to: Owner, inverse: dummies}
            SpecialDummy: {parent: TestDummy}
            Owner:
              attributes: {name: string}
              relationships:
                dummies: {to: TestDummy, inverse: owner, many: true}
        """

    private let scratch: ScratchFolder
    let coordinator: PersistentStoreCoordinator
    let foreign: ForeignWriter

    init() throws {
        scratch = try ScratchFolder()
        let location = scratch.location("store.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: Self.recipe), at: location)
        var description = PersistentStoreDescription(url: location.url)
        // Nobody pulls the plug on a test.
        description.sqlitePragmas = ["synchronous": "OFF"]
        coordinator = PersistentStoreCoordinator()
        let store = try coordinator.addPersistentStore(with: description)
        foreign = try ForeignWriter(location, storeUUID: store.identifier)
    }

    /// Takes every object out of the store; keys go on where they were, so that nobody's memory is of new objects.
    func empty() throws { try foreign.deleteEverything() }
}
