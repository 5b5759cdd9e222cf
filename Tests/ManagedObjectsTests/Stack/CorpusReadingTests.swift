import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@Suite("Reading genuine stores")
struct CorpusReadingTests {
    @Test(
        "Every value and relationship of every object equals the content of the tables",
        .genuineStores,
        arguments: Corpus.stores
    )
    func everything(_ store: String) throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(store, into: scratch)
        var description = PersistentStoreDescription(url: location.url)
        description.isReadOnly = true
        let coordinator = PersistentStoreCoordinator()
        try coordinator.addPersistentStore(with: description)
        let connection = try StoreConnection(location, access: .liveReading)
        let plain = try PlainReading(connection)
        #expect(plain.unexplainedColumns().isEmpty, "columns without a property")
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        try context.performAndWait { context in
            for entity in plain.names.model.entitiesByName.keys.sorted() {
                var request = FetchRequest(entityName: entity)
                request.includesSubentities = false
                let objects = try context.fetch(request)
                #expect(objects.compactMap(\.objectID.primaryKey) == plain.keys(of: entity), "\(entity)")
                let areFaults = objects.allSatisfy(\.isFault)
                #expect(areFaults)
                for object in objects { try check(object, entity, plain) }
            }
        }
    }

    private func check(_ object: ManagedObject, _ entity: String, _ plain: PlainReading) throws {
        let key = try #require(object.objectID.primaryKey)
        for attribute in plain.names.attributes(entity) {
            let known = plain.names.column(entity, attribute.name)
            let column = try #require(known, "\(entity).\(attribute.name)")
            let value = try object.rawValue(forKey: attribute.name)
            let stored = plain.tables.value(column, of: key, in: plain.names.table(of: entity))
            #expect(Self.isSame(value, stored), "\(entity).\(attribute.name)")
        }
        for relationship in plain.names.relationships(entity) {
            let destinations = plain.destinations(of: key, entity, relationship)
            let expected = try #require(destinations, "\(entity).\(relationship.name)")
            let ids = try object.objectIDs(forRelationshipNamed: relationship.name)
            #expect(ids.compactMap(\.primaryKey) == expected, "\(entity).\(relationship.name)")
        }
        #expect(!object.hasChanges)
    }

    /// Compares by an independent implementation of the file format.
    private static func isSame(_ value: AttributeValue, _ stored: SQLValue) -> Bool {
        switch (value, stored) {
        case (.null, .null): true
        case (.boolean(let value), .integer(let number)): value == (number != 0)
        case (.integer(let value), .integer(let number)): value == number
        case (.real(let value), _): value == stored.number
        case (.date(let value), _): value.timeIntervalSinceReferenceDate == stored.number
        case (.decimal(let value), .text(let text)): value.isNaN && text == "NaN"
        case (.decimal(let value), _): Double(value.description) == stored.number
        case (.string(let value), .text(let text)), (.uri(let value), .text(let text)): value == text.string
        case (.uuid(let value), .blob(let bytes)): withUnsafeBytes(of: value.uuid) { [UInt8]($0) } == bytes
        case (.data(let value), .blob(let bytes)): [UInt8](value) == bytes || [1] + [UInt8](value) == bytes
        case (.externalData(let file), .blob(let bytes)): [2] + Array(file.fileName.utf8) + [0] == bytes
        default: false
        }
    }
}
