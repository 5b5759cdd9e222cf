import ChangeMerging
import StoreFormat
import TestSupport
import Testing

@testable import ManagedObjects

/// Two contexts edit one store at random and merge each other's saves.
@Suite("Random editing in two contexts")
struct RandomEditingTests {
    @Test(
        "After all saves and merges, both contexts equal the store, and the store is sound",
        arguments: Seed.several(60) + [1009]
    )
    func converge(_ seed: UInt64) throws {
        let stack = try SiblingStack(Library.model)
        let (first, second) = (stack.main, stack.background)
        let observations = [(first, second), (second, first)]
            .map { saving, other in
                saving.onDidSave { notice in
                    other.performAndWait { context in
                        let unsaved = UnsavedValues(of: context)
                        try? context.mergeChanges(fromContextDidSave: notice)
                        #expect(unsaved.lost == [], "seed \(seed)")
                    }
                }
            }
        for context in [first, second] {
            context.performAndWait {
                $0.mergePolicy = .mergeByPropertyObjectTrump
                $0.retainsRegisteredObjects = true
            }
        }
        var generator = SeededGenerator(seed: seed)
        for step in 0..<40 {
            let context = Bool.random(using: &generator) ? first : second
            let choices = (0..<6).map { _ in Int.random(in: 0..<1000, using: &generator) }
            try context.performAndWait { try RandomEdit(choices, serial: step).perform(in: $0) }
        }
        for context in [first, second, first] { try context.performAndWait { try $0.save() } }
        let fresh = PersistentStoreCoordinator()
        try fresh.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        let stored = try Self.everything(ManagedObjectContext(.privateQueue, coordinator: fresh))
        let shown = [try Self.everything(first), try Self.everything(second)]
        for readings in shown {
            #expect(Set(readings.keys) == Set(stored.keys), "seed \(seed)")
            for (id, reading) in stored { #expect(readings[id] == reading, "seed \(seed)") }
        }
        #expect(try stack.location.findingsOfCoreData() == [], "seed \(seed)")
        for observation in observations { observation.cancel() }
    }

    /// All objects of a context.
    static func everything(_ context: ManagedObjectContext) throws -> [ManagedObjectID: ObjectReading] {
        try context.performAndWait { context in
            var result: [ManagedObjectID: ObjectReading] = [:]
            for entity in Library.model.entitiesByName.values where entity.superentity == nil {
                for object in try context.fetch(FetchRequest(entityName: entity.name)) {
                    result[object.objectID] = try ObjectReading(object)
                }
            }
            return result
        }
    }
}

/// The values that a merge must keep: attributes that were set, and to-one relationships that were cleared.
private struct UnsavedValues {
    private let attributes: [(object: ManagedObject, index: Int, value: AttributeValue)]
    private let cleared: [(object: ManagedObject, index: Int)]

    init(of context: isolated ManagedObjectContext) {
        let changes = context.registeredObjects.filter { $0.isUpdated || $0.isInserted }
            .flatMap { object in object.changed.map { (object, $0) } }
        attributes = changes.compactMap { object, property in
            if case .attribute(let index) = property { (object, index, object.attribute(index)) } else { nil }
        }
        cleared = changes.compactMap { object, property in
            if case .toOne(let index) = property, object.toOne(index) == nil { (object, index) } else { nil }
        }
    }

    /// The properties that have other values now; an object that was deleted has none.
    var lost: [String] {
        attributes.filter { $0.object.graph != nil && $0.object.attribute($0.index) != $0.value }
            .map { "\($0.object.shape.name).\($0.object.shape.attributes[$0.index].name)" }
            + cleared.filter { $0.object.graph != nil && $0.object.toOne($0.index) != nil }
            .map { "\($0.object.shape.name).\($0.object.shape.toOnes[$0.index].name)" }
    }
}

/// One step of a random session.
struct RandomEdit {
    let choices: [Int]
    let serial: Int

    init(_ choices: [Int], serial: Int) {
        self.choices = choices
        self.serial = serial
    }

    func perform(in context: isolated ManagedObjectContext) throws {
        switch choices[0] % 12 {
        case 0...2: try insert(context)
        case 3, 4: try setAttribute(context)
        case 5, 6: try setToOne(context)
        case 7, 8: try changeToMany(context)
        case 9: if let object = try any(context, choices[1]) { try context.delete(object) }
        case 10: try context.processPendingChanges()
        default: try context.save()
        }
    }

    private static let entities = ["Author", "Book", "Comic", "Chapter", "Tag", "Passport"]

    private func insert(_ context: isolated ManagedObjectContext) throws {
        let object = try context.insertNewObject(forEntityName: Self.entities[choices[1] % Self.entities.count])
        if object.entity.name == "Author" { try object.setValue("author \(serial)", forKey: "name") }
    }

    /// Any object of the context, with unsaved changes.
    private func any(_ context: isolated ManagedObjectContext, _ choice: Int, of entity: String? = nil) throws
        -> ManagedObject?
    {
        let name = entity ?? Self.entities[choice % Self.entities.count]
        let objects = try context.fetch(FetchRequest(entityName: name))
        return objects.isEmpty ? nil : objects[choice % objects.count]
    }

    private func setAttribute(_ context: isolated ManagedObjectContext) throws {
        guard let object = try any(context, choices[1]), let attribute = object.shape.attributes.last else { return }
        switch attribute.type {
        case .string: try object.setValue("text \(serial)", forKey: attribute.name)
        case .boolean: try object.setValue(serial.isMultiple(of: 2), forKey: attribute.name)
        default: try object.setValue(serial % 1000, forKey: attribute.name)
        }
    }

    private func setToOne(_ context: isolated ManagedObjectContext) throws {
        guard let object = try any(context, choices[1]), !object.shape.toOnes.isEmpty else { return }
        let relationship = object.shape.toOnes[choices[2] % object.shape.toOnes.count]
        let destination = choices[3] % 4 == 0 ? nil : try any(context, choices[4], of: relationship.destination)
        try object.setObject(destination, forKey: relationship.name)
    }

    private func changeToMany(_ context: isolated ManagedObjectContext) throws {
        guard let object = try any(context, choices[1]) else { return }
        let relationships = object.shape.toManys.filter { $0.name != "awards" }
        guard !relationships.isEmpty else { return }
        let relationship = relationships[choices[2] % relationships.count]
        guard let destination = try any(context, choices[4], of: relationship.destination) else { return }
        switch choices[3] % 4 {
        case 0: try object.remove(destination, fromKey: relationship.name)
        case 1 where relationship.isOrdered:
            try object.setObjects(object.objects(forKey: relationship.name).reversed(), forKey: relationship.name)
        default: try object.add(destination, toKey: relationship.name)
        }
    }
}
