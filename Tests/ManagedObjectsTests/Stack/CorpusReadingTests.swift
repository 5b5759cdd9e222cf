import FoundationEssentials
import ManagedObjects
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@Suite("Reading genuine stores through the runtime")
struct CorpusReadingTests {
    @Test(
        "every value and every relationship of every object is what the tables say",
        .disabled(if: Corpus.isAbsent, "the genuine stores are not at hand"),
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
        let tables = try TableReading(connection)
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        try context.performAndWait { context in
            for entity in tables.layout.entities.values {
                var query = RowQuery(entity: entity.name)
                query.includesSubentities = false
                let objects = try context.objects(query)
                #expect(Set(objects.compactMap(\.objectID.primaryKey)) == tables.keys(of: entity))
                for object in objects { try check(object, entity, tables) }
            }
        }
    }

    private func check(_ object: ManagedObject, _ entity: StoreLayout.Entity, _ tables: TableReading) throws {
        #expect(object.isFault)
        let key = try #require(object.objectID.primaryKey)
        for attribute in entity.attributes {
            let value = try object.rawValue(forKey: attribute.description.name)
            let stored = tables.value(attribute.column, of: key, in: entity.table)
            #expect(Self.isSame(value, stored), "\(entity.name).\(attribute.description.name)")
        }
        for relationship in entity.relationships {
            let ids = try object.objectIDs(forRelationshipNamed: relationship.description.name)
            let keys = ids.compactMap(\.primaryKey)
            #expect(keys.count == Set(keys).count)
            #expect(Set(keys) == tables.destinations(of: key, entity, relationship), "\(relationship.description.name)")
            #expect(tables.isAscending(keys, relationship))
        }
        #expect(!object.isFault || entity.attributes.isEmpty)
        #expect(!object.hasChanges)
    }

    /// Compares by the rules of the file format, written down a second time.
    private static func isSame(_ value: AttributeValue, _ stored: SQLValue) -> Bool {
        switch (value, stored) {
        case (.null, .null): true
        case (.boolean(let value), .integer(let number)): value == (number != 0)
        case (.integer(let value), .integer(let number)): value == number
        case (.real(let value), _): value == stored.number
        case (.date(let value), _): value.timeIntervalSinceReferenceDate == stored.number
        case (.decimal(let value), .text(let text)): value.isNaN && text == "NaN"
        case (.decimal(let value), _): Double(value.description) == stored.number
        case (.string(let value), .text(let text)), (.uri(let value), .text(let text)): value == text
        case (.uuid(let value), .blob(let bytes)): withUnsafeBytes(of: value.uuid) { [UInt8]($0) } == bytes
        case (.data(let value), .blob(let bytes)): [UInt8](value) == bytes || [1] + [UInt8](value) == bytes
        case (.externalData(let file), .blob(let bytes)): [2] + Array(file.fileName.utf8) + [0] == bytes
        default: false
        }
    }
}
