import BuiltInStrategies
public import Foundation
public import ManagedObjects
public import StoreFormat
import StoreMigration
public import StoreStrategies

/// Opens the shared store for the app and its widget.
public struct DataController: Sendable {
    /// The programs that open the store.
    private static let roles: [ProgramRole] = [.app, .extension("widget")]

    public let container: PersistentContainer

    /// Opens the shared store by the role's description; nil while there is none, so that only the app creates it.
    public init?(_ role: StoreRole, in group: GroupContainer) async throws {
        let descriptions: [StoreRole: PersistentStoreDescription]
        do {
            descriptions = try StoreMigrator.descriptions(at: Self.descriptions(in: group))
        } catch {
            guard error.outcome == .nothingFound else { throw error }
            return nil
        }
        guard let description = descriptions[role], FileManager.default.fileExists(atPath: description.url.path)
        else { return nil }
        try await self.init(description)
    }

    /// Shares the private store if necessary, writes a description for each role, and opens or creates the shared store.
    public init(sharing old: URL, to group: GroupContainer) async throws {
        var options = ShareOptions()
        options.descriptionsFile = Self.descriptions(in: group)
        let outcome = try await StoreMigrator(
            from: old,
            to: group.storeURL(databaseName: "HabitCalendar"),
            options: options,
            strategies: StrategyPipeline([.writeAheadLog, .historyTracking, .sharedAccess()], roles: Self.roles)
        )
        .shareStoreIfNecessary()
        guard [.shared, .alreadyShared, .merged, .nothingFound].contains(outcome.outcome),
            let description = outcome.descriptions[.app]
        else { throw MigrationError(outcome.outcome, outcome.message, path: old.path, next: outcome.next) }
        try await self.init(description)
    }

    private init(_ description: PersistentStoreDescription) async throws {
        container = PersistentContainer(
            name: "HabitCalendar",
            managedObjectModel: .habitCalendar,
            descriptions: [description]
        )
        try await container.loadPersistentStores()
    }

    private static func descriptions(in group: GroupContainer) -> URL {
        group.url.appending(path: "descriptions.json")
    }
}
