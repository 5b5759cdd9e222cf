import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFixtures
import StoreStrategies
import StoreVerification
import Testing

@testable import StoreMigration

/// Two stores that are edited with Core Data's concepts, as an app and its widget do.
struct MergeWorld {
    static let capture: @Sendable (inout ShareOptions) -> Void = {
        $0.oldStore = .capture
        $0.level = .coredata
    }

    let places: Places
    private let tracksHistory: Bool

    /// Two habits in the old store: Run with the days 1 and 2, and Read.
    init(tracksHistory: Bool = true, journalMode: String = "wal") throws {
        places = try Places()
        self.tracksHistory = tracksHistory
        try Self.build(at: places.oldStore, tracksHistory: tracksHistory, journalMode: journalMode)
    }

    /// Stores of one seed have the same UUID, like copies of a store.
    static func build(
        at location: StoreLocation,
        tracksHistory: Bool,
        journalMode: String = "wal",
        seed: String = "merge"
    ) throws {
        let recipe = """
            about: Habits and their days.
            seed: \(seed)
            options: {journalMode: \(journalMode), history: \(tracksHistory)}
            model:
              entities:
                Habit:
                  attributes:
                    id: {type: integer64, optional: false}
                    name: string
                    note: string
                  relationships:
                    days: {to: Day, inverse: habit, many: true, deleteRule: cascade}
                  unique: [[id]]
                Day:
                  attributes:
                    number: {type: integer64, optional: false}
                  relationships:
                    habit: {to: Habit, inverse: days}
            saves:
              - at: 2026-07-20T07:00:00Z
                author: app
                insert:
                  - {entity: Habit, name: run, values: {id: 1, name: Run, note: "-"}}
                  - {entity: Habit, name: read, values: {id: 2, name: Read, note: "-"}}
                  - {entity: Day, name: d1, values: {number: 1, habit: run}}
                  - {entity: Day, name: d2, values: {number: 2, habit: run}}
            """
        _ = try RecipeBuilder.build(RecipeReader.recipe(from: recipe), at: location)
    }

    /// Edits a store as a program that opens it, saves, and ends.
    func edit(
        _ location: StoreLocation,
        _ body: @Sendable (isolated ManagedObjectContext) throws -> Void
    ) throws {
        var description = PersistentStoreDescription(url: location.url)
        description.isHistoryTrackingEnabled = tracksHistory
        let container = PersistentContainer(name: "edit", descriptions: [description], viewContextOn: .privateQueue)
        try container.loadPersistentStoresAndWait()
        defer {
            for store in container.persistentStoreCoordinator.persistentStores {
                container.persistentStoreCoordinator.remove(store)
            }
        }
        try container.viewContext.performAndWait { context in
            context.transactionAuthor = "test"
            try body(context)
            try context.save()
        }
    }

    /// Renames the habits with a number.
    func rename(_ id: Int, to name: String, in location: StoreLocation) throws {
        try edit(location) { try Self.habit(id, $0).setValue(name, forKey: "name") }
    }

    /// Adds a habit with one day.
    func add(_ id: Int, _ name: String, to location: StoreLocation) throws {
        try edit(location) { context in
            let habit = try context.insertNewObject(forEntityName: "Habit")
            try habit.setValue(id, forKey: "id")
            try habit.setValue(name, forKey: "name")
            let day = try context.insertNewObject(forEntityName: "Day")
            try day.setValue(id, forKey: "number")
            try day.setObject(habit, forKey: "habit")
        }
    }

    func delete(_ id: Int, in location: StoreLocation) throws {
        try edit(location) { try $0.delete(Self.habit(id, $0)) }
    }

    static func habit(_ id: Int, _ context: isolated ManagedObjectContext) throws -> ManagedObject {
        var request = FetchRequest(entityName: "Habit")
        request.predicate = try FetchPredicate(format: "id == \(id)")
        return try #require(try context.fetch(request).first)
    }

    /// The content of a store, read with plain SQL: `1 Run -: 1 2`.
    func content(of location: StoreLocation) throws -> [String] {
        try StoreReader()
            .withView(of: location) { view in
                var lines: [String] = []
                try view.connection.forEachRow(
                    """
                    SELECT ZID || ' ' || ifnull(ZNAME, '') || ' ' || ifnull(ZNOTE, '') || ':' || ifnull((
                        SELECT group_concat(' ' || ZNUMBER, '') FROM (
                            SELECT ZNUMBER FROM ZDAY WHERE ZHABIT = ZHABIT.Z_PK ORDER BY ZNUMBER)), '')
                    FROM ZHABIT ORDER BY ZID, ZNAME
                    """
                ) { lines.append($0.text(0) ?? "") }
                return lines
            }
    }

    /// Expects that the shared store is as sound as one that Core Data wrote.
    func expectSound(_ location: StoreLocation, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let report = try StoreVerifier().verify(location, level: .coredata)
        #expect(report.passed, "\(report.findings)", sourceLocation: sourceLocation)
        let troubles = report.findings.filter { $0.severity >= .warning }
        #expect(troubles.isEmpty, sourceLocation: sourceLocation)
    }
}
