import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFixtures
import StoreStrategies
import TestSupport

/// A store of dummies and their owners, for tests of fetched results.
struct DummyStore {
    private static let recipe = """
        seed: dummies
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
    let location: StoreLocation
    let coordinator = PersistentStoreCoordinator()
    let uuid: String

    init(pragmas: [String: String] = [:]) throws {
        scratch = try ScratchFolder()
        location = scratch.location("store.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: Self.recipe), at: location)
        var description = PersistentStoreDescription(url: location.url)
        description.sqlitePragmas = pragmas
        uuid = try coordinator.addPersistentStore(with: description).identifier
    }
}
