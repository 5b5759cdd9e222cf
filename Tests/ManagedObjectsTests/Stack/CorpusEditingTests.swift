import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@Suite("Editing genuine stores", .genuineStores)
struct CorpusEditingTests {
    @Test("Objects of every entity are inserted, changed, linked and deleted", arguments: Corpus.stores)
    func everyEntity(_ store: String) throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(store, into: scratch)
        let description = description(location, isReadOnly: false)
        let coordinator = PersistentStoreCoordinator()
        try coordinator.addPersistentStore(with: description, writesInferredModel: true)
        // Findings from before may remain; no new ones may appear.
        let before = try Set(location.findingsOfCoreData())
        let count = try objectCount(location)
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        try context.performAndWait { context in
            context.retainsRegisteredObjects = true
            let made = try insert(context, location)
            try context.save()
            #expect(try before.isSuperset(of: location.findingsOfCoreData()), "after inserting")
            try expectSame(context, location, made)

            for (serial, object) in made.values.enumerated() { try fill(object, round: 2, serial: serial) }
            try context.save()
            #expect(try before.isSuperset(of: location.findingsOfCoreData()), "after changing")
            try expectSame(context, location, made)

            try lead(made)
            try context.save()
            #expect(try before.isSuperset(of: location.findingsOfCoreData()), "after linking")
            try expectSame(context, location, made)

            for object in made.values { try partLoose(object) }
            for object in made.values { try context.delete(object) }
            try context.save()
            #expect(context.hasChanges == false)
        }
        #expect(try before.isSuperset(of: location.findingsOfCoreData()), "after deleting")
        #expect(try objectCount(location) == count)
    }

    /// One object of every concrete entity, with a destination for every to-one relationship.
    private func insert(
        _ context: isolated ManagedObjectContext,
        _ location: StoreLocation
    ) throws -> [String: ManagedObject] {
        let layout = try layout(location)
        var made: [String: ManagedObject] = [:]
        func make(_ entity: String, as name: String) throws -> ManagedObject {
            let object = try context.insertNewObject(forEntityName: entity)
            try fill(object, round: 1, serial: made.count)
            made[name] = object
            return object
        }
        for entity in layout.entities.values.sorted(by: { $0.name < $1.name }) where !entity.isAbstract {
            _ = try make(entity.name, as: entity.name)
        }
        for object in made.values.sorted(by: { $0.entity.name < $1.entity.name }) {
            for relationship in object.shape.toManys where relationship.minCount > 0 {
                guard let kind = Self.member(of: relationship.destination, made)?.entity.name else { continue }
                for _ in 0..<relationship.minCount {
                    try object.add(make(kind, as: "\(kind) \(made.count)"), toKey: relationship.name)
                }
            }
        }
        for object in made.values.sorted(by: { $0.entity.name < $1.entity.name }) {
            for relationship in object.shape.toOnes where try object.object(forKey: relationship.name) == nil {
                try object.setObject(Self.member(of: relationship.destination, made), forKey: relationship.name)
            }
        }
        return made
    }

    private static func member(of entity: String, _ made: [String: ManagedObject]) -> ManagedObject? {
        made.values.filter { $0.shape.lineage.contains(entity) }.min { $0.entity.name < $1.entity.name }
    }

    private func fill(_ object: ManagedObject, round: Int, serial: Int) throws {
        // Unique within the store, and different in every round.
        let number = round * 1000 + serial
        for attribute in object.shape.attributes where !attribute.isDerived {
            if let value = Self.value(of: attribute.type, number) {
                try object.setValue(value, forKey: attribute.name)
            }
        }
    }

    private static func value(of type: AttributeDescription.AttributeType, _ number: Int) -> AttributeValue? {
        switch type {
        case .integer16, .integer32, .integer64: .integer(Int64(number))
        case .decimal: .decimal(Decimal(number))
        case .double, .float: .real(Double(number) + 0.5)
        case .string: .string("the runtime's test \(number)")
        case .boolean: .boolean(number < 2000)
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
        case .binaryData, .transformable: .data(Data([1, 2, UInt8(truncatingIfNeeded: number)]))
        case .uuid: .uuid(UUID())
        case .uri: .uri("https://example.com/\(number)")
        case .undefined, .objectID, .composite: nil
        }
    }

    /// Adds a member to every to-many relationship that permits it, and reverses ordered ones.
    private func lead(_ made: [String: ManagedObject]) throws {
        for object in made.values.sorted(by: { $0.entity.name < $1.entity.name }) {
            for relationship in object.shape.toManys {
                guard let member = Self.member(of: relationship.destination, made) else { continue }
                // No owner may drop below the minimum count of the model.
                let inverse = relationship.inverse.flatMap(member.shape.property)
                if case .toOne? = inverse, made.values.contains(where: { Self.needs(member, $0) }) { continue }
                try object.add(member, toKey: relationship.name)
                guard relationship.isOrdered else { continue }
                try object.setObjects(object.objects(forKey: relationship.name).reversed(), forKey: relationship.name)
            }
        }
    }

    private static func needs(_ member: ManagedObject, _ owner: ManagedObject) -> Bool {
        owner.shape.toManys.contains { relationship in
            relationship.minCount > 0
                && (try? owner.objectIDs(forRelationshipNamed: relationship.name).contains(member.objectID)) == true
        }
    }

    /// Empties relationships that would deny a deletion or cascade it to genuine objects.
    private func partLoose(_ object: ManagedObject) throws {
        for relationship in object.shape.toManys { try object.setObjects([], forKey: relationship.name) }
        for relationship in object.shape.toOnes where relationship.isOptional {
            try object.setObject(nil, forKey: relationship.name)
        }
    }

    /// Compares the context's objects with those of a new coordinator.
    private func expectSame(
        _ context: isolated ManagedObjectContext,
        _ location: StoreLocation,
        _ made: [String: ManagedObject]
    ) throws {
        let fresh = PersistentStoreCoordinator()
        try fresh.addPersistentStore(with: description(location, isReadOnly: true))
        let here = try made.values.map { try ObjectReading($0) }
        let ids = made.values.map(\.objectID)
        let other = ManagedObjectContext(.privateQueue, coordinator: fresh)
        let there = try other.performAndWait { other in
            try ids.map { try ObjectReading(other.existingObject(with: $0)) }
        }
        for (one, another) in zip(here, there) { #expect(one == another, "\(one.entity)") }
    }

    private func description(_ location: StoreLocation, isReadOnly: Bool) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: location.url)
        description.isHistoryTrackingEnabled = true
        description.isReadOnly = isReadOnly
        return description
    }

    private func layout(_ location: StoreLocation) throws -> StoreLayout {
        let connection = try StoreConnection(location, access: .liveReading)
        if let layout = try StoreLayout(reading: connection) { return layout }
        let schema = try StoreSchema(reading: connection)
        let numbers = try #require(try EntityNumbers(reading: connection))
        let model = ManagedObjectModel.inferred(from: schema, entityNumbers: numbers)
        return StoreLayout(model: model, schema: schema, entityNumbers: numbers)
    }

    private func objectCount(_ location: StoreLocation) throws -> Int64 {
        let connection = try StoreConnection(location, access: .liveReading)
        return try Set(layout(location).entities.values.map(\.table))
            .reduce(into: 0) { count, table in
                count += try connection.value("SELECT count(*) FROM \(SQLName.quoted(table))")?.integer ?? 0
            }
    }
}
