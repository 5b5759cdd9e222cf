// Opens every role of the descriptions named on the command line as an app would, and prints what Core Data is given. Then the
// first role saves once with each kind of context, and another role's notification arrives.
import CoreData
import notify

let file = URL(fileURLWithPath: CommandLine.arguments[1])
let group = URL(fileURLWithPath: "/group")
let missing = try SharedStore.role("extension(unknown)", in: file)
print("unknown:", missing == nil ? "no description" : "described")
for role in CommandLine.arguments.dropFirst(2) {
    guard let store = try SharedStore.role(role, in: file) else { continue }
    let description = store.description(in: group)
    print("\(role):", description.url?.path ?? "", description.type, description.configuration ?? "default")
    print("  isReadOnly", description.isReadOnly, "timeout", description.timeout)
    print("  asynchronous", description.shouldAddStoreAsynchronously)
    print("  migrates", description.shouldMigrateStoreAutomatically, description.shouldInferMappingModelAutomatically)
    for (name, value) in description.sqlitePragmas.sorted(by: { $0.key < $1.key }) { print("  pragma", name, value) }
    for (name, value) in description.options.sorted(by: { $0.key < $1.key }) { print("  option", name, value) }
}

let roles = CommandLine.arguments.dropFirst(2).compactMap { try? SharedStore.role($0, in: file) }
if let names = roles.first?.notificationNames {
    let context = NSManagedObjectContext()
    context.persistentStoreCoordinator = NSPersistentStoreCoordinator()
    let child = NSManagedObjectContext()
    (child.parent, child.persistentStoreCoordinator) = (context, context.persistentStoreCoordinator)
    let other = NSManagedObjectContext()
    other.persistentStoreCoordinator = NSPersistentStoreCoordinator()
    let notifications = SharedStoreNotifications(names, viewContext: context)
    for saved in [child, other, context] {
        NotificationCenter.default.post(name: .NSManagedObjectContextDidSave, object: saved)
    }
    print("posted:", posted.joined(separator: " "))
    print("refreshes after own posts:", context.refreshes.count)
    for name in names.observe { notify_post(name) }
    print("refreshed with:", context.refreshes, "then", context.stalenessInterval)
    notifications.end()
    let (count, total) = (context.refreshes.count, posted.count)
    NotificationCenter.default.post(name: .NSManagedObjectContextDidSave, object: context)
    print("posts after the end:", posted.count - total)
    for name in names.observe { notify_post(name) }
    print("refreshes after the end:", context.refreshes.count - count)
}
