import ManagedObjects
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport

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

    /// Writes a later model of the dummies, with the attribute `note`.
    func writeLaterDummyModel(in folder: ScratchFolder) throws -> StoreLocation {
        let attributes = [("id", "Integer 64"), ("name", "String"), ("note", "String")]
            .map { #"<attribute name="\#($0)" optional="YES" attributeType="\#($1)"/>"# }
        let model = #"<model><entity name="TestDummy">\#(attributes.joined())</entity></model>"#
        try folder.write("contents", Array(model.utf8))
        return folder.location("contents")
    }

    /// Counts the columns that only the later model has.
    static let dummyNoteColumns = "SELECT count(*) FROM pragma_table_info('ZTESTDUMMY') WHERE name = 'ZNOTE'"
}
