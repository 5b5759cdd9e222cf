import Foundation
import ManagedObjects
import StoreFixtures
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

/// Two contexts on one coordinator, each with a fetched results controller: saves of one are merged into the other.
struct Investigation {
    private static let recipe = """
        seed: investigation
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
    private let location: StoreLocation
    let coordinator: PersistentStoreCoordinator
    /// Reads, and takes in what the other saves.
    let main: ManagedObjectContext
    let background: ManagedObjectContext
    private let merging: ChangeObservation?

    init(isMerging: Bool = true, isChild: Bool = false) throws {
        scratch = try ScratchFolder()
        location = scratch.location("store.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: Self.recipe), at: location)
        coordinator = PersistentStoreCoordinator()
        try coordinator.addPersistentStore(with: PersistentStoreDescription(url: location.url))
        let main = ManagedObjectContext(.privateQueue, coordinator: coordinator, name: "main")
        self.main = main
        background =
            isChild
            ? ManagedObjectContext(.privateQueue, parent: main)
            : ManagedObjectContext(.privateQueue, coordinator: coordinator, name: "background")
        merging =
            !isMerging
            ? nil
            : background.onDidSave { notice in
                main.performAndWait { context in try? context.mergeChanges(fromContextDidSave: notice) }
            }
    }

    // MARK: Controllers

    /// Gives a context a controller, and a delegate that writes down what it is told.
    func observe(
        _ context: ManagedObjectContext,
        _ format: String? = nil,
        _ behaviour: FetchedResultsController.Behaviour = .complete,
        hasDelegate: Bool = true,
        sections: String? = nil,
        change: @Sendable (inout FetchRequest) -> Void = { _ in }
    ) async throws {
        let predicate = try format.map { try FetchPredicate(format: $0) }
        try await context.perform { context in
            var request = FetchRequest(entityName: "TestDummy", predicate: predicate)
            request.sortDescriptors = (sections.map { [.init(keyPath: $0)] } ?? []) + [.init(keyPath: "id")]
            change(&request)
            let controller = FetchedResultsController(
                fetchRequest: request,
                managedObjectContext: context,
                sectionNameKeyPath: sections,
                behaviour: behaviour
            )
            let recorder = Recorder()
            context.userInfo["controller"] = controller
            context.userInfo["recorder"] = recorder
            if hasDelegate { controller.delegate = recorder }
            try controller.performFetch()
        }
    }

    /// The names of the objects that a context's controller holds.
    func names(_ context: ManagedObjectContext) async throws -> [String] {
        try await context.perform { context in
            let controller = try #require(context.userInfo["controller"] as? FetchedResultsController)
            #expect(controller.updateError == nil)
            return try controller.fetchedObjects?.map { try $0.value(String.self, forKey: "name") ?? "-" } ?? []
        }
    }

    /// What a context's delegate was told since this was last asked.
    func events(_ context: ManagedObjectContext) async throws -> [String] {
        try await context.perform { context in
            let recorder = try #require(context.userInfo["recorder"] as? Recorder)
            defer { recorder.events = [] }
            return recorder.events
        }
    }

    // MARK: Changes

    /// Inserts dummies of the given numbers.
    static func insert(
        _ numbers: Range<Int>,
        isEven: Bool = false,
        into context: isolated ManagedObjectContext
    ) throws {
        for number in numbers {
            let dummy = try context.insertNewObject(forEntityName: "TestDummy")
            try dummy.setValue(Int64(number), forKey: "id")
            try dummy.setValue("dummy\(number)", forKey: "name")
            try dummy.setValue(isEven, forKey: "isEven")
        }
    }

    /// Changes a few rows as a program does that knows SQLite and nothing of Core Data; returns their ids.
    func updateBySQL(_ generator: inout SeededGenerator) throws -> Set<ManagedObjectID> {
        let connection = try StoreConnection(location, access: .liveWriting, lockTimeout: .seconds(60))
        var keys: [Int64] = []
        try connection.forEachRow("SELECT Z_PK FROM ZTESTDUMMY ORDER BY Z_PK") { keys.append($0.integer(0)) }
        let chosen = keys.shuffled(using: &generator).prefix(2)
        for key in chosen {
            try connection.run(
                "UPDATE ZTESTDUMMY SET ZISEVEN = 1 - ZISEVEN, ZID = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?",
                [.integer(Int64.random(in: 0..<9, using: &generator)), .integer(key)]
            )
        }
        try connection.close()
        let store = try #require(coordinator.persistentStores.first)
        return Set(
            chosen.compactMap { key in
                let uri = "x-coredata://\(store.identifier)/TestDummy/p\(key)"
                return coordinator.managedObjectID(forURIRepresentation: uri)
            }
        )
    }

    static func dummy(_ number: Int, in context: isolated ManagedObjectContext) throws -> ManagedObject {
        let predicate = try FetchPredicate(format: "id == %d", number)
        return try #require(try context.fetch(FetchRequest(entityName: "TestDummy", predicate: predicate)).first)
    }

    static func setEven(_ numbers: [Int], _ isEven: Bool = true, in context: isolated ManagedObjectContext) throws {
        for number in numbers { try dummy(number, in: context).setValue(isEven, forKey: "isEven") }
    }
}

/// Writes down what a controller tells.
final class Recorder: FetchedResultsControllerDelegate {
    var events: [String] = []

    func controllerWillChangeContent(_ controller: FetchedResultsController) { events.append("will") }

    func controller(
        _ controller: FetchedResultsController,
        didChange section: FetchedResultsController.Section,
        atSectionIndex index: Int,
        for type: FetchedResultsController.ChangeType
    ) {
        events.append("\(type) section \(section.name) \(index)")
    }

    func controller(
        _ controller: FetchedResultsController,
        didChange object: ManagedObject,
        at indexPath: FetchedResultsController.IndexPath?,
        for type: FetchedResultsController.ChangeType,
        newIndexPath: FetchedResultsController.IndexPath?
    ) {
        let places = [indexPath, newIndexPath].map { $0.map { "\($0.section).\($0.item)" } ?? "-" }
        let name = (try? object.value(String.self, forKey: "name")) ?? "?"
        events.append("\(type) \(name) \(places.joined(separator: " "))")
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController) { events.append("did") }
}
