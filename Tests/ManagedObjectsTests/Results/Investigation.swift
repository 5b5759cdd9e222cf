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
    private let observation: ChangeObservation?

    init(_ processing: SaveProcessing? = .merge, isAutomatic: Bool = false, isChild: Bool = false) throws {
        store = try DummyStore()
        let coordinator = store.coordinator
        coordinator.register(CountedDummy.self, forEntityName: "TestDummy")
        let main = ManagedObjectContext(.privateQueue, coordinator: coordinator, name: "main")
        self.main = main
        let background =
            isChild
            ? ManagedObjectContext(.privateQueue, parent: main)
            : ManagedObjectContext(.privateQueue, coordinator: coordinator, name: "background")
        self.background = background
        observation = processing.map { main.observeSaves(of: background, processing: $0) }
        if isAutomatic { main.performAndWait { $0.automaticallyMergesChangesFromParent = true } }
    }

    /// A dummy that counts the fired faults of its context.
    final class CountedDummy: ManagedObject {
        override func awakeFromFetch() {
            managedObjectContext?.assumeIsolated { $0.userInfo["faults"] = ($0.userInfo["faults"] as? Int ?? 0) + 1 }
        }
    }

    /// What the main context reports of its objects.
    struct Reports: Equatable {
        /// How often objects were reported as updated or refreshed, by their numbers.
        var updates: [Int64: Int] = [:]
        /// The objects in the context's deleted objects, and in the report, while a deletion was reported.
        var deleted: [Int] = []
        var faultsFired = 0
    }

    /// What an observer has seen; it stays in its context.
    private final class Log {
        var updates: [ManagedObject] = []
        var deleted: [Int] = []
    }

    /// Counts the main context's reports from now on.
    func countReports() {
        main.performAndWait { context in
            let log = Log()
            context.userInfo["faults"] = 0
            context.userInfo["log"] = log
            _ = context.addObserver { [unowned context] news in
                log.updates += Array(news.updated) + Array(news.refreshed)
                guard !news.deleted.isEmpty else { return }
                log.deleted = [context.assumeIsolated { $0.deletedObjects.count }, news.deleted.count]
            }
        }
    }

    var reports: Reports {
        get throws {
            try main.performAndWait { context in
                let log = try #require(context.userInfo["log"] as? Log)
                let faults = context.userInfo["faults"] as? Int ?? 0
                var result = Reports(deleted: log.deleted, faultsFired: faults)
                for object in log.updates {
                    result.updates[try object.value(Int64.self, forKey: "id") ?? -1, default: 0] += 1
                }
                return result
            }
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
        change: @Sendable (inout FetchRequest<ManagedObject>) -> Void = { _ in }
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

    /// The IDs of the objects in a context's controller.
    func shown(_ context: ManagedObjectContext) async throws -> Set<ManagedObjectID> {
        try await context.perform { context in
            let controller = try #require(context.userInfo["controller"] as? FetchedResultsController)
            return Set((controller.fetchedObjects ?? []).map(\.objectID))
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

    /// Updates two properties of dummies, as the published investigation does.
    static func update(_ numbers: [Int], isEven: Bool = true, in context: isolated ManagedObjectContext) throws {
        // A fetch processes pending changes.
        for (number, dummy) in zip(numbers, try numbers.map { try dummy($0, in: context) }) {
            try dummy.setValue("updated\(number)", forKey: "name")
            try dummy.setValue(isEven, forKey: "isEven")
        }
    }

    static func setEven(_ numbers: [Int], _ isEven: Bool = true, in context: isolated ManagedObjectContext) throws {
        for number in numbers { try dummy(number, in: context).setValue(isEven, forKey: "isEven") }
    }
}
