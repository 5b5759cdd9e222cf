import Foundation
import GRDB
import ManagedObjects
import StoreFormat
import StoreStrategies

/// A store for measurements of the runtime: things with attributes of several types in a few boxes, always the same.
struct ObjectStore {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Thing",
            attributes: [
                AttributeDescription(name: "number", type: .integer64),
                AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "note", type: .string),
                AttributeDescription(name: "isEven", type: .boolean),
                AttributeDescription(name: "at", type: .date),
                AttributeDescription(name: "weight", type: .double),
            ],
            relationships: [RelationshipDescription(name: "box", destination: "Box", inverse: "things")]
        ),
        EntityDescription(
            name: "Box",
            attributes: [AttributeDescription(name: "name", type: .string)],
            relationships: [
                RelationshipDescription(name: "things", destination: "Thing", inverse: "box", maxCount: 0)
            ]
        ),
    ])

    static let boxes = 100

    let url: URL
    let container: PersistentContainer

    /// Makes a store with `things` things, numbered from 1 like their keys; half of them are even.
    init(things: Int, tracksHistory: Bool = false) throws {
        let url = try SampleStore.emptyFolder().appending(path: "Things.sqlite")
        // The coordinator makes the file; the rows are inserted while it is closed.
        try Self.open(url, tracksHistory).close()
        try Self.fill(url, things: things)
        self.url = url
        container = try Self.open(url, tracksHistory)
    }

    /// Opens the same file again, with empty caches.
    func reopened() throws -> PersistentContainer { try Self.open(url, false) }

    func remove() {
        container.close()
        try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
    }

    static func open(_ url: URL, _ tracksHistory: Bool) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: url)
        description.isHistoryTrackingEnabled = tracksHistory
        let container = PersistentContainer(
            name: "Things",
            managedObjectModel: model,
            descriptions: [description],
            viewContextOn: .privateQueue
        )
        try container.loadPersistentStoresAndWait()
        return container
    }

    private static func fill(_ url: URL, things: Int) throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(boxes))
                    INSERT INTO ZBOX (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i,
                        (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Box'), 1, 'box ' || i FROM c;
                    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(things))
                    INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZNAME, ZNOTE, ZISEVEN, ZAT, ZWEIGHT, ZBOX) SELECT i,
                        (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'), 1, i, 'thing number ' || i,
                        'a note as people write them, about ' || i, i % 2 = 0, 700000000.25 + i, i * 0.5,
                        1 + i * 7919 % \(boxes) FROM c;
                    UPDATE Z_PRIMARYKEY SET Z_MAX = \(boxes) WHERE Z_NAME = 'Box';
                    UPDATE Z_PRIMARYKEY SET Z_MAX = \(things) WHERE Z_NAME = 'Thing';
                    """
            )
        }
        try queue.close()
    }
}

extension PersistentContainer {
    func close() {
        for store in persistentStoreCoordinator.persistentStores { persistentStoreCoordinator.remove(store) }
    }
}
