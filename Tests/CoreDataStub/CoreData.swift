// The symbols of Core Data that Fixtures/ApplePlatforms/SharedStore.swift uses, with the signatures that Swift sees on Apple's
// platforms. They record what is set.
@_exported import Foundation

public let NSSQLiteStoreType = "SQLite"
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
    "NSPersistentStoreRemoteChangeNotificationPostOptionKey"
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"

open class NSPersistentStoreDescription: NSObject {
    public var url: URL?
    public var type = NSSQLiteStoreType
    public var configuration: String?
    public var isReadOnly = false
    public var timeout: TimeInterval = 240
    public var shouldAddStoreAsynchronously = false
    public var shouldMigrateStoreAutomatically = true
    public var shouldInferMappingModelAutomatically = true
    public private(set) var options: [String: NSObject] = [:]
    public private(set) var sqlitePragmas: [String: NSObject] = [:]

    public init(url: URL) { self.url = url }

    public func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    public func setValue(_ value: NSObject?, forPragmaNamed name: String) { sqlitePragmas[name] = value }
}

open class NSPersistentStoreCoordinator: NSObject {}

open class NSManagedObjectContext: NSObject {
    public var parent: NSManagedObjectContext?
    public var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    public var stalenessInterval: TimeInterval = -1
    /// The staleness intervals that were in force at each refresh.
    public private(set) var refreshes: [TimeInterval] = []

    public func refreshAllObjects() { refreshes.append(stalenessInterval) }
}

@MainActor
open class NSPersistentContainer: NSObject {
    public var persistentStoreDescriptions: [NSPersistentStoreDescription] = []
    public let viewContext = NSManagedObjectContext()

    public func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions { block(description, nil) }
    }
}

extension Notification.Name {
    public static let NSManagedObjectContextDidSave = Notification.Name("NSManagingContextDidSaveChangesNotification")
}
