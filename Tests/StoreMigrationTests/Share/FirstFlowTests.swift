import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

/// A store is shared, and an app and its extension use it in separate processes (FLOWS F1).
@Suite("An app shares its store with an extension")
struct FirstFlowTests {
    private func makeStore(_ places: Places, tracksHistory: Bool) throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "TestDummy",
                attributes: [
                    AttributeDescription(name: "id", type: .integer64),
                    AttributeDescription(name: "name", type: .string),
                ]
            )
        ])
        var description = PersistentStoreDescription(url: places.oldStore.url)
        description.isHistoryTrackingEnabled = tracksHistory
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

    @Test(
        "The extension changes an object of the shared store, and the app sees the change",
        arguments: [false, true]
    )
    func shareAndUse(tracksHistory: Bool) throws {
        let places = try Places()
        try makeStore(places, tracksHistory: tracksHistory)
        let roles = (tracksHistory ? ["history"] : []) + ["posts"]
        func peer(_ location: StoreLocation) throws -> StoreWriterProcess {
            try StoreWriterProcess(program: "relay-peer", ["container", location.path] + roles)
        }
        // An app version without the extension, terminated for an update.
        do {
            let former = try peer(places.oldStore)
            #expect(try former.execute("update 3 old") == "ok")
            #expect(former.waitForExit() == 0)
        }
        #expect(try places.share().outcome == .shared)
        #expect(try places.share().outcome == .alreadyShared)

        let (app, widget) = (try peer(places.newStore), try peer(places.newStore))
        #expect(try app.execute("fetch") == "1=dummy1 2=dummy2 3=old")
        #expect(try app.execute("follow app") == "ok")
        #expect(try widget.execute("fetch") == "1=dummy1 2=dummy2 3=old")
        #expect(try widget.execute("update 1 seen") == "ok")
        #expect(try app.execute("until 1=seen 2=dummy2 3=old") == "ok")
        // An unknown object ID is a normal answer.
        #expect(try widget.execute("update 99 never") == "gone")
        // Writes to the old store are refused.
        #expect(try peer(places.oldStore).execute("update 1 late").hasPrefix("error"))
    }
}
