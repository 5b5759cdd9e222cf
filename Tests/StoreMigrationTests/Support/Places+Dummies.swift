import ManagedObjects
import StoreAccess
import StoreFormat
import StoreStrategies

extension Places {
    /// Creates a store with the dummies 1 to 3.
    func makeDummies(at store: StoreLocation, tracksHistory: Bool = false, isRollback: Bool = false) throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "TestDummy",
                attributes: [
                    AttributeDescription(name: "id", type: .integer64),
                    AttributeDescription(name: "name", type: .string),
                ]
            )
        ])
        var description = PersistentStoreDescription(url: store.url)
        description.isHistoryTrackingEnabled = tracksHistory
        if isRollback { description.sqlitePragmas["journal_mode"] = "delete" }
        let container = PersistentContainer(
            name: "TestDummy",
            managedObjectModel: model,
            descriptions: [description],
            viewContextOn: .privateQueue
        )
        try container.loadPersistentStoresAndWait()
        try container.viewContext.performAndWait { context in
            for number in 1...3 {
                let dummy = try context.insertNewObject(forEntityName: "TestDummy")
                try dummy.setValue(number, forKey: "id")
                try dummy.setValue("dummy\(number)", forKey: "name")
            }
            try context.save()
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            container.persistentStoreCoordinator.remove(store)
        }
    }
}
