import ManagedObjects
import Testing

/// Two contexts on one coordinator, each with a fetched results controller.
///
/// Saves of one are merged into the other.
struct Investigation {
    private let store: DummyStore
    /// Reads, and merges the other context's saves.
    let main: ManagedObjectContext
    let background: ManagedObjectContext
    private let merging: ChangeObservation?

    init(isMerging: Bool = true, isChild: Bool = false) throws {
        store = try DummyStore()
        let coordinator = store.coordinator
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

    /// Creates a controller in a context, with a delegate that records its changes.
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

    /// The names of the objects in a context's controller.
    func names(_ context: ManagedObjectContext) async throws -> [String] {
        try await context.perform { context in
            let controller = try #require(context.userInfo["controller"] as? FetchedResultsController)
            #expect(controller.updateError == nil)
            return try controller.fetchedObjects?.map { try $0.value(String.self, forKey: "name") ?? "-" } ?? []
        }
    }

    /// The events recorded by a context's delegate since the last call.
    func events(_ context: ManagedObjectContext) async throws -> [String] {
        try await context.perform { context in
            let recorder = try #require(context.userInfo["recorder"] as? Recorder)
            defer { recorder.events = [] }
            return recorder.events
        }
    }

    // MARK: Changes

    /// Inserts dummies with the given numbers.
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

    static func dummy(_ number: Int, in context: isolated ManagedObjectContext) throws -> ManagedObject {
        let predicate = try FetchPredicate(format: "id == %d", number)
        return try #require(try context.fetch(FetchRequest(entityName: "TestDummy", predicate: predicate)).first)
    }

    static func setEven(_ numbers: [Int], _ isEven: Bool = true, in context: isolated ManagedObjectContext) throws {
        for number in numbers { try dummy(number, in: context).setValue(isEven, forKey: "isEven") }
    }
}
