import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

/// Edits objects of genuine stores one by one; an independent reader compares every table before and after.
@Suite("Editing genuine objects", .genuineStores)
struct GenuineObjectTests {
    private static let kinds: [RowExpectation.Kind] = [.attribute, .toOne, .addition, .insertion, .deletion]

    @Test("An edit of a genuine object of any entity changes only the expected rows", arguments: Corpus.stores)
    func everyEntity(_ store: String) throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(store, into: scratch)
        var description = PersistentStoreDescription(url: location.url)
        description.isHistoryTrackingEnabled = true
        let coordinator = PersistentStoreCoordinator()
        let opened = try coordinator.addPersistentStore(with: description, writesInferredModel: true)
        #expect(!opened.isReadOnly && opened.isHistoryTrackingEnabled)
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        let connection = try StoreConnection(location, access: .liveReading)
        let inherited = try Set(location.findingsOfCoreData())
        var edits = 0
        var before = try PlainReading(connection)
        let names = before.names
        for kind in Self.kinds {
            for entity in names.model.entitiesByName.values.sorted(by: { $0.name < $1.name })
            where !entity.isAbstract && names.numbers[entity.name] != nil {
                for property in Self.properties(kind, entity.name, names) {
                    let expected = try context.performAndWait { [before] context in
                        try edit(context, entity.name, property, kind, before)
                    }
                    let after = try PlainReading(connection, after: before)
                    let found = RowChanges(from: before, to: after)
                    before = after
                    guard let expected else {
                        // No object existed or the model does not allow the edit: nothing may be written.
                        #expect(found.isEmpty, "\(kind) \(entity.name) \(property)")
                        continue
                    }
                    edits += 1
                    #expect(found.rows == expected.rows, "\(kind) \(entity.name) \(property)")
                    #expect(found.joins == expected.joins, "\(kind) \(entity.name) \(property)")
                    #expect(found.problems.isEmpty, "\(kind) \(entity.name) \(property)")
                }
            }
            // Findings from before may remain; no new ones may appear.
            #expect(try Set(location.findingsOfCoreData()).subtracting(inherited) == [], "\(kind)")
        }
        #expect(edits > 0)
    }

    /// The properties to edit; an empty name if the edit concerns the whole object.
    private static func properties(_ kind: RowExpectation.Kind, _ entity: String, _ names: PlainNames) -> [String] {
        switch kind {
        case .insertion, .deletion: return [""]
        case .attribute:
            let unique = Set(names.lineage(entity).flatMap(\.uniquenessConstraints).joined())
            let plain = names.attributes(entity).filter { !$0.isDerived && !unique.contains($0.name) }
            // One of each type.
            return Dictionary(plain.map { ($0.type, $0.name) }) { first, _ in first }.values.sorted()
        case .toOne: return names.relationships(entity).filter { !$0.isToMany }.map(\.name)
        case .addition:
            return names.relationships(entity).filter { $0.isToMany && names.join(entity, $0.name) != nil }.map(\.name)
        }
    }

    /// Edits the first object of an entity and saves; returns the expected changes, or nil when nothing was saved.
    private func edit(
        _ context: isolated ManagedObjectContext,
        _ entity: String,
        _ property: String,
        _ kind: RowExpectation.Kind,
        _ before: PlainReading
    ) throws -> RowExpectation? {
        try context.reset()
        var request = FetchRequest(entityName: entity)
        request.includesSubentities = false
        request.fetchLimit = 1
        let expected: RowExpectation?
        if kind == .insertion {
            let object = try context.insertNewObject(forEntityName: entity)
            // Values that differ from those of every object in the table.
            let number = 9000 + (before.tables.tables[before.names.table(of: entity)]?.rows.count ?? 0)
            for attribute in object.shape.attributes where !attribute.isDerived {
                if let value = Self.value(of: attribute.type, number: number) {
                    try object.setValue(value, forKey: attribute.name)
                }
            }
            expected = RowExpectation(insertionOf: entity, before)
        } else {
            guard let object = try context.fetch(request).first, let key = object.objectID.primaryKey else {
                return nil
            }
            let row = PlainReading.Row(table: before.names.table(of: entity), key: key)
            switch kind {
            case .attribute:
                guard let type = object.shape.attributes.first(where: { $0.name == property })?.type,
                    let value = Self.value(of: type, number: 7)
                else { return nil }
                let old = try object.value(forKey: property)
                try object.setValue(value, forKey: property)
                guard try object.value(forKey: property) != old else { return nil }
                expected = RowExpectation(attribute: property, of: row, entity, before)
            case .toOne:
                let old = try object.objectIDs(forRelationshipNamed: property).first
                let destination = try other(than: old, object, property, context)
                guard destination != nil || old != nil else { return nil }
                try object.setObject(destination, forKey: property)
                expected = try RowExpectation(
                    toOne: property,
                    of: row,
                    entity,
                    leadingTo: destination?.objectID.primaryKey,
                    before
                )
            case .addition:
                let members = Set(try object.objects(forKey: property))
                let name = try #require(before.names.relationship(entity, property)).destination
                let new = try context.fetch(FetchRequest(entityName: name))
                    .first { !members.contains($0) && $0 !== object }
                guard let new, let member = new.objectID.primaryKey else { return nil }
                try object.add(new, toKey: property)
                expected = try RowExpectation(adding: member, to: property, of: row, entity, before)
            case .deletion, .insertion:
                expected = RowExpectation(deletionOf: row, before)
                try context.delete(object)
            }
        }
        do {
            try context.save()
            return expected
        } catch let error as ManagedObjectError {
            // The model does not allow it: a missing mandatory value or object, or a denied deletion.
            #expect((1550...1680).contains(error.code.rawValue), "\(kind) \(entity).\(property): \(error)")
            try context.rollback()
            return nil
        }
    }

    private func other(
        than old: ManagedObjectID?,
        _ object: ManagedObject,
        _ property: String,
        _ context: isolated ManagedObjectContext
    ) throws -> ManagedObject? {
        let name = try #require(object.shape.toOnes.first { $0.name == property }).destination
        return try context.fetch(FetchRequest(entityName: name)).first { $0.objectID != old && $0 !== object }
    }

    private static func value(of type: AttributeDescription.AttributeType, number: Int) -> AttributeValue? {
        switch type {
        case .integer16, .integer32, .integer64: .integer(Int64(number))
        case .decimal: .decimal(Decimal(number))
        case .double, .float: .real(Double(number) + 0.5)
        case .string: .string("edited by a test \(number)")
        case .boolean: .boolean(number % 2 == 1)
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
        case .binaryData, .transformable: .data(Data([1, 2, UInt8(truncatingIfNeeded: number)]))
        case .uuid: .uuid(UUID())
        case .uri: .uri("https://example.com/\(number)")
        case .undefined, .objectID, .composite: nil
        }
    }
}
