import CoreData
import Foundation
import notify

/// How one program opens the shared store: a role's entry in the `descriptions.json` that `store-migrate share` wrote.
///
/// Copy this file into the app and into each extension. It is type-checked against a stub of Core Data on Linux, and has not
/// run on Apple's platforms. Core Data has no option for the members that are absent here.
struct SharedStore: Decodable, Sendable {
    /// The Darwin notifications of this role.
    struct NotificationNames: Decodable, Sendable {
        /// Posted after each save; nil for a role that only reads.
        let post: String?
        /// Posted by the other roles.
        let observe: [String]
    }

    private let url: URL
    private let configuration: String?
    private let isReadOnly: Bool?
    private let timeout: Double?
    private let shouldAddStoreAsynchronously: Bool?
    private let shouldMigrateStoreAutomatically: Bool?
    private let shouldInferMappingModelAutomatically: Bool?
    private let sqlitePragmas: [String: String]?
    private let isHistoryTrackingEnabled: Bool?
    private let postsRemoteChangeNotifications: Bool?
    private let fileProtection: String?
    let notificationNames: NotificationNames?

    /// The description of a role, `app` or `extension(NAME)`, in a `descriptions.json`; nil if the file does not list the role.
    static func role(_ role: String, in file: URL) throws -> SharedStore? {
        try JSONDecoder().decode([String: SharedStore].self, from: Data(contentsOf: file))[role]
    }

    /// The description of the store of the same name in this device's group container.
    func description(in group: URL) -> NSPersistentStoreDescription {
        let store = NSPersistentStoreDescription(url: group.appendingPathComponent(url.lastPathComponent))
        store.type = NSSQLiteStoreType
        store.configuration = configuration
        store.isReadOnly = isReadOnly ?? false
        store.timeout = timeout ?? 240
        store.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously ?? false
        store.shouldMigrateStoreAutomatically = shouldMigrateStoreAutomatically ?? true
        store.shouldInferMappingModelAutomatically = shouldInferMappingModelAutomatically ?? true
        for (name, value) in sqlitePragmas ?? [:] {
            store.setValue(NSString(string: value), forPragmaNamed: name)
        }
        store.setOption(NSNumber(value: isHistoryTrackingEnabled ?? false), forKey: NSPersistentHistoryTrackingKey)
        store.setOption(
            NSNumber(value: postsRemoteChangeNotifications ?? false),
            forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey
        )
        #if !os(macOS)
        if let fileProtection {
            store.setOption(NSString(string: fileProtection), forKey: NSPersistentStoreFileProtectionKey)
        }
        #endif
        return store
    }
}

/// Notifies the programs in other roles after each save here, and refreshes a view context after their saves.
///
/// A notification has no payload, and a program that does not run receives none: an app calls ``refresh()`` when it becomes
/// active.
@MainActor
final class SharedStoreNotifications {
    private let context: NSManagedObjectContext
    private var tokens: [Int32] = []
    private var saves: (any NSObjectProtocol)?

    /// Begins to post and to observe; call ``end()`` before the last reference is released.
    init(_ names: SharedStore.NotificationNames, viewContext: NSManagedObjectContext) {
        context = viewContext
        if let name = names.post { post(name) }
        for name in names.observe { observe(name) }
    }

    /// Reads again what the view context shows; unsaved changes stay.
    func refresh() {
        // Without this, faults are filled from cached rows, which never expire.
        context.stalenessInterval = 0
        context.refreshAllObjects()
        context.stalenessInterval = -1
    }

    /// Ends posting and observing.
    func end() {
        if let saves { NotificationCenter.default.removeObserver(saves) }
        for token in tokens { notify_cancel(token) }
        (saves, tokens) = (nil, [])
    }

    private func post(_ name: String) {
        let coordinator = context.persistentStoreCoordinator.map(ObjectIdentifier.init)
        saves = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave,
            object: nil,
            queue: nil
        ) { notification in
            // The save of a child context does not write to the store.
            guard let saved = notification.object as? NSManagedObjectContext, saved.parent == nil,
                saved.persistentStoreCoordinator.map(ObjectIdentifier.init) == coordinator
            else { return }
            notify_post(name)
        }
    }

    private func observe(_ name: String) {
        var token: Int32 = 0
        let status = notify_register_dispatch(name, &token, DispatchQueue.main) { [weak self] _ in
            MainActor.assumeIsolated { self?.refresh() }
        }
        if status == UInt32(NOTIFY_STATUS_OK) { tokens.append(token) }
    }
}
