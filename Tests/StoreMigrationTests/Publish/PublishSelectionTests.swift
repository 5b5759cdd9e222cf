import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Snapshots of a part of a store")
struct PublishSelectionTests {
    private let places: Places

    init() throws { places = try Places() }

    private func publish(only: Set<String> = [], without: Set<String> = []) throws -> PublishOutcome {
        var options = PublishOptions()
        options.selection = SnapshotSelection(only: only, without: without)
        return try SnapshotPublisher(of: places.oldStore.url, to: places.newStore.url, options: options)
            .publishAndWait()
    }

    /// The number of objects of each concrete entity.
    private func counts(_ store: StoreLocation) throws -> [String: Int64] {
        let connection = try StoreConnection(store, access: .liveReading)
        defer { try? connection.close() }
        let layout = try #require(try StoreLayout(reading: connection))
        var counts: [String: Int64] = [:]
        for entity in layout.entities.values {
            let sql = "SELECT count(*) FROM \(SQLName.quoted(entity.table)) WHERE Z_ENT = \(entity.number)"
            if let count = try connection.value(sql)?.integer, count > 0 { counts[entity.name] = count }
        }
        return counts
    }

    private static let fixtures = [
        "all-types", "external-data", "history-on", "inheritance", "many-to-many", "ordered", "unusual-names",
    ]

    @Test("Without any one entity, the snapshot is sound and has all other objects", arguments: fixtures)
    func everyEntity(_ fixture: String) throws {
        try places.build(fixture, at: places.oldStore)
        let all = try counts(places.oldStore)
        let connection = try StoreConnection(places.oldStore, access: .liveReading)
        let model = try #require(try ManagedObjectModel(cachedIn: connection))
        try connection.close()
        let before = try places.old.everything()
        for entity in model.entities.map(\.name) {
            let gone = Set(model.entitiesByName.keys.filter { model.isEntity($0, kindOf: entity) })
            guard gone.count < model.entities.count else { continue }
            let outcome = try publish(without: [entity])
            let left = all.filter { !gone.contains($0.key) }
            #expect(try counts(places.newStore) == left, "without \(entity)")
            let expected = all.filter { gone.contains($0.key) }.values.reduce(0, +)
            #expect(outcome.outcome == .alreadyPublished || outcome.objectsLeftOut == expected, "without \(entity)")
            let report = try StoreVerifier().verify(places.newStore, level: .coredata)
            let findings = report.findings.filter { $0.severity >= .warning }
            #expect(report.passed && findings.isEmpty, "without \(entity): \(findings)")
        }
        #expect(try places.old.everything() == before)
    }

    @Test("Only some entities are published with their subentities, and cut relationships are empty")
    func only() throws {
        try places.build("inheritance", at: places.oldStore)
        _ = try publish(only: ["Country", "Visit"])
        #expect(try counts(places.newStore) == ["Country": 5, "Island": 1, "Visit": 4])
        let connection = try StoreConnection(places.newStore, access: .immutable)
        #expect(try connection.value("SELECT count(*) FROM ZREGION WHERE ZCONTINENT IS NOT NULL")?.integer == 0)
        // Of four visits, one was to the continent and one to no region.
        #expect(try connection.value("SELECT count(*) FROM ZVISIT WHERE ZREGION IS NOT NULL")?.integer == 2)
        #expect(try connection.value("PRAGMA freelist_count")?.integer == 0)
        try connection.close()
        let bytes = try places.container.bytes(places.name)
        #expect(bytes.firstRange(of: Array("Europe".utf8)) == nil)
        #expect(bytes.firstRange(of: Array("Capital 1".utf8)) != nil)
    }

    @Test("Another selection publishes an unchanged store again, and the record and the outcome name it")
    func changed() throws {
        try places.build("inheritance", at: places.oldStore)
        #expect(try publish(without: ["Island", "Region.title"]).objectsLeftOut == 1)
        let again = try publish(without: ["Island", "Region.title"])
        #expect(again.outcome == .alreadyPublished && again.selection.without == ["Island", "Region.title"])
        let folder = places.container.directory
        let record = try #require(try SnapshotRecord(beside: places.name, in: folder))
        #expect(record.selection == SnapshotSelection(without: ["Island", "Region.title"]))
        let connection = try StoreConnection(places.newStore, access: .immutable)
        #expect(try connection.value("SELECT count(*) FROM ZREGION WHERE ZTITLE IS NOT NULL")?.integer == 0)
        try connection.close()
        #expect(try publish().outcome == .published)
        #expect(try SnapshotRecord(beside: places.name, in: folder)?.selection == nil)
        #expect(try counts(places.newStore) == counts(places.oldStore))
        #expect(try publish().outcome == .alreadyPublished)
    }

    @Test(
        "Files of values that are left out are not copied; those that an earlier snapshot copied go with the next but one"
    )
    func externalFiles() throws {
        try places.build("external-data", at: places.oldStore)
        let folder = places.container.directory
        func files() throws -> [String] { try folder.externalData(of: places.newStore)?.entries() ?? [] }
        try places.writeExternalFile("FOREIGN", 1, count: 10, in: places.container)
        #expect(try publish(without: ["Picture.data"]).externalFiles == 0)
        #expect(try files() == ["FOREIGN"])
        #expect(try publish().externalFiles == 1)
        #expect(try files().count == 2)
        #expect(try publish(without: ["Picture.data"]).outcome == .published)
        #expect(try files().count == 2)
        #expect(try publish(without: ["Picture.data"]).outcome == .alreadyPublished)
        #expect(try files() == ["FOREIGN"])
        #expect(PublishedFiles(beside: places.name, in: folder) == PublishedFiles())
    }

    @Test("Files stay while another store in the folder may use them")
    func sharedFolder() throws {
        try places.build("external-data", at: places.oldStore)
        let folder = places.container.directory
        _ = try publish()
        try folder.createFile("store.other", mode: 0o600).close()
        #expect(
            StoreLocation(folder: folder.path, name: "store.other").supportFolderName
                == places.newStore.supportFolderName
        )
        for _ in 0..<3 { _ = try publish(without: ["Picture.data"]) }
        #expect(try folder.externalData(of: places.newStore)?.entries().count == 1)
        try folder.removeFile("store.other")
        _ = try publish(without: ["Picture.data"])
        #expect(try folder.externalData(of: places.newStore)?.entries().count == 0)
    }

    @Test(
        "Names that the model lacks, required values and an empty selection end as usage errors, and nothing is published",
        arguments: [
            ([], ["Nowhere"], "there is no entity Nowhere"),
            (["Nowhere"], [], "there is no entity Nowhere"),
            ([], ["Region.nothing"], "has no attribute nothing"), ([], ["Region.code"], "is required"),
            ([], ["Region", "Visit"], "every entity"),
        ] as [([String], [String], String)]
    )
    func refused(_ only: [String], _ without: [String], _ message: String) throws {
        try places.build("inheritance", at: places.oldStore)
        let error = #expect(throws: MigrationError.self) {
            try publish(only: Set(only), without: Set(without))
        }
        #expect(error?.outcome == .usage && error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(try places.container.directory.entries().filter { !$0.hasPrefix(".store") } == [])
    }

    @Test("Every row of a table loses an attribute, also one with the number of an entity of another table")
    func wrongEntity() throws {
        try places.build("wrong-entity", at: places.oldStore)
        _ = try publish(without: ["Note.editedAt"])
        let connection = try StoreConnection(places.newStore, access: .immutable)
        defer { try? connection.close() }
        #expect(try connection.value("SELECT count(*) FROM ZNOTE")?.integer == 20)
        #expect(try connection.value("SELECT count(*) FROM ZNOTE WHERE ZEDITEDAT IS NOT NULL")?.integer == 0)
    }

    @Test("A kept row of which one letter or one number differs fails the proof of the snapshot")
    func differingRow() throws {
        try places.build("inheritance", at: places.oldStore)
        try places.container.write(places.name, [])
        let original = try StoreConnection(places.oldStore, access: .liveReading)
        let copy = try StoreConnection(places.newStore, access: .privateCopy)
        defer { for connection in [copy, original] { try? connection.close() } }
        try original.copyPages(to: copy, monitor: .silent)
        let cut = try SnapshotCut(SnapshotSelection(without: ["Island"]), of: copy, path: places.newStore.path)
        #expect(try cut.carryOut(in: copy, monitor: .silent) == 1)
        try cut.proveRest(of: copy, against: original, monitor: .silent)
        let row = "Z_PK = (SELECT min(Z_PK) FROM ZREGION WHERE ZTITLE IS NOT NULL)"
        for change in ["ZTITLE = '#' || substr(ZTITLE, 2)", "Z_OPT = Z_OPT + 1"] {
            try copy.execute("SAVEPOINT change; UPDATE ZREGION SET \(change) WHERE \(row)")
            let error = #expect(throws: MigrationError.self) {
                try cut.proveRest(of: copy, against: original, monitor: .silent)
            }
            #expect(error?.outcome == .verificationFailed)
            #expect(error?.message.contains("ZREGION") == true)
            try copy.execute("ROLLBACK TO change; RELEASE change")
        }
        try cut.proveRest(of: copy, against: original, monitor: .silent)
    }

    @Test("A plain store, and one whose search index has the words, cannot be published in part")
    func unfit() throws {
        try places.build("plain-sqlite", at: places.oldStore)
        let error = #expect(throws: MigrationError.self) { try publish(without: ["t"]) }
        #expect(error?.outcome == .usage)
        let indexed = try Places()
        try indexed.build("inheritance", at: indexed.oldStore)
        let writer = try StoreConnection(indexed.oldStore, access: .liveWriting)
        try writer.execute("CREATE VIRTUAL TABLE found USING fts5(title)")
        try writer.execute(
            "CREATE TRIGGER index_region AFTER INSERT ON ZREGION BEGIN INSERT INTO found VALUES (new.ZTITLE); END"
        )
        try writer.close()
        var options = PublishOptions()
        options.selection = SnapshotSelection(without: ["Island"])
        let publisher = SnapshotPublisher(of: indexed.oldStore.url, to: indexed.newStore.url, options: options)
        let refusal = #expect(throws: MigrationError.self) { try publisher.publishAndWait() }
        #expect(
            refusal?.outcome == .usage
                && refusal?.message.contains("the virtual table found, which the trigger") == true
        )
    }

    @Test("A selection that takes a required partner names it, and what to publish or leave out")
    func requiredPartner() throws {
        let item = RelationshipDescription(name: "owner", destination: "Owner", inverse: "items", isOptional: false)
        let items = RelationshipDescription(name: "items", destination: "Item", inverse: "owner", maxCount: 0)
        let container = PersistentContainer(
            name: "Owners",
            managedObjectModel: ManagedObjectModel(entities: [
                EntityDescription(name: "Item", relationships: [item]),
                EntityDescription(name: "Owner", relationships: [items]),
            ]),
            descriptions: [PersistentStoreDescription(url: places.oldStore.url)],
            viewContextOn: .privateQueue
        )
        try container.loadPersistentStoresAndWait()
        try container.viewContext.performAndWait { context in
            let owner = try context.insertNewObject(forEntityName: "Owner")
            try context.insertNewObject(forEntityName: "Item").setObject(owner, forKey: "owner")
            try context.save()
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            container.persistentStoreCoordinator.remove(store)
        }
        for (only, without) in [(["Item"], []), ([], ["Owner"])] as [(Set<String>, Set<String>)] {
            let error = #expect(throws: MigrationError.self) { try publish(only: only, without: without) }
            #expect(error?.message == "1 objects of Item would lose their required owner")
            #expect(error?.advice == "Nothing was published. Publish all of Owner, or leave out Item as well.")
        }
        #expect(try publish(only: ["Owner"]).objectsLeftOut == 1)
    }
}
