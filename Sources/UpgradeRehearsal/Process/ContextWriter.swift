import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFixtures
import StoreFormat
import StoreStrategies

/// A Core Data stack on a store, which makes the saves of a scenario.
struct ContextWriter {
    private let container: PersistentContainer

    init(_ path: String) throws {
        let location = StoreLocation(url: URL(filePath: path))
        guard let inspection = try StoreInspector(depth: .layout).inspect(location).inspection else {
            throw RehearsalFailure("there is no store to save in")
        }
        var description = PersistentStoreDescription(url: location.url)
        description.sqlitePragmas["journal_mode"] = inspection.header.journalMode == .wal ? "WAL" : "DELETE"
        description.isHistoryTrackingEnabled = inspection.history != nil
        container = PersistentContainer(name: "Rehearsal", descriptions: [description], viewContextOn: .privateQueue)
        try container.loadPersistentStoresAndWait()
    }

    /// Makes all changes in one save.
    func save(_ changes: ContextChanges) throws {
        try container.newBackgroundContext(name: "rehearsal")
            .performAndWait { context in
                context.transactionAuthor = changes.author
                for insertion in changes.insertions {
                    for number in 1...insertion.count {
                        let object = try context.insertNewObject(forEntityName: insertion.entity)
                        try Self.set(insertion.values, of: object, number, in: context)
                    }
                }
                for update in changes.updates {
                    for object in try Self.objects(update.entity, update.predicate, in: context) {
                        try Self.set(update.values, of: object, 1, in: context)
                    }
                }
                for deletion in changes.deletions {
                    for object in try Self.objects(deletion.entity, deletion.predicate, in: context) {
                        try context.delete(object)
                    }
                }
                try context.save()
            }
    }

    private static func objects(
        _ entity: String,
        _ predicate: String,
        in context: isolated ManagedObjectContext
    ) throws -> [ManagedObject] {
        var request = FetchRequest(entityName: entity)
        request.predicate = try FetchPredicate(format: predicate)
        let objects = try context.fetch(request)
        guard !objects.isEmpty else { throw RehearsalFailure("no object of \(entity) matches: \(predicate)") }
        return objects
    }

    private static func set(
        _ values: [String: ContextChanges.Value],
        of object: ManagedObject,
        _ number: Int64,
        in context: isolated ManagedObjectContext
    ) throws {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            switch object.shape.property(name) {
            case .attribute(let index):
                let attribute = object.shape.attributes[index]
                try object.setValue(try self.value(value, of: attribute, number), forKey: name)
            case .toOne(let index):
                let destination = object.shape.toOnes[index].destination
                let found = try destinations(value, destination, number, in: context)
                guard found.count <= 1 else {
                    throw RehearsalFailure(
                        "\(object.shape.name).\(name) is a to-one relationship; several objects match"
                    )
                }
                try object.setObject(found.first, forKey: name)
            case .toMany(let index):
                let destination = object.shape.toManys[index].destination
                try object.setObjects(try destinations(value, destination, number, in: context), forKey: name)
            case nil: throw RehearsalFailure("\(object.shape.name) has no property '\(name)'")
            }
        }
    }

    private static func destinations(
        _ value: ContextChanges.Value,
        _ entity: String,
        _ number: Int64,
        in context: isolated ManagedObjectContext
    ) throws -> [ManagedObject] {
        let predicates: [String]
        switch value {
        case .null: predicates = []
        case .text(let text): predicates = [text]
        case .list(let texts): predicates = texts
        case .bytes: throw RehearsalFailure("a relationship takes predicates, not bytes")
        }
        var found: [ManagedObject] = []
        for predicate in predicates {
            let text = predicate.replacing("{n}", with: "\(number)")
            for object in try objects(entity, text, in: context)
            where !found.contains(where: { $0.objectID == object.objectID }) {
                found.append(object)
            }
        }
        return found
    }

    /// Converts text to a value of an attribute.
    private static func value(
        _ value: ContextChanges.Value,
        of attribute: AttributeDescription,
        _ number: Int64
    ) throws -> AttributeValue {
        switch value {
        case .null: return .null
        case .bytes(let count, let fill):
            let pattern = fill.isEmpty ? [0] : Array(fill.replacing("{n}", with: "\(number)").utf8)
            return .data(Data((0..<count).map { pattern[$0 % pattern.count] }))
        case .list: throw RehearsalFailure("'\(attribute.name)' is an attribute and takes no list")
        case .text(let text):
            guard let read = self.value(text.replacing("{n}", with: "\(number)"), attribute.type) else {
                throw RehearsalFailure("the value does not fit the type of '\(attribute.name)'")
            }
            return read
        }
    }

    private static func value(_ text: String, _ type: AttributeDescription.AttributeType) -> AttributeValue? {
        switch type {
        case .string: .string(text)
        case .uri: .uri(text)
        case .integer16, .integer32, .integer64: Int64(text).map(AttributeValue.integer)
        case .double, .float: Double(text).map(AttributeValue.real)
        case .decimal: Decimal(string: text).map(AttributeValue.decimal)
        case .boolean: ["true": true, "yes": true, "false": false, "no": false][text].map(AttributeValue.boolean)
        case .date:
            RecipeDate.seconds(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .uuid: text == "auto" ? .uuid(UUID()) : UUID(uuidString: text).map(AttributeValue.uuid)
        case .binaryData, .transformable: .data(Data(text.utf8))
        case .undefined, .objectID, .composite: nil
        }
    }
}
