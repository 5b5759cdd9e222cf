import ChangeMerging
import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport

/// Three copies of a genuine store, two of which are edited independently.
struct GenuineTriple {
    let base: StoreLocation
    let old: StoreLocation
    let shared: StoreLocation
    private let folders: [ScratchFolder]

    init(_ store: String) throws {
        folders = try (0..<3).map { _ in try ScratchFolder() }
        base = try Corpus.copy(store, into: folders[0])
        old = try Corpus.copy(store, into: folders[1])
        shared = try Corpus.copy(store, into: folders[2])
    }

    /// Opens one of the stores for a merge.
    func place(_ location: StoreLocation, _ access: StoreConnection.Access) throws -> MergePlace {
        let folder = try Directory.open(path: location.folder)
        return MergePlace(
            try StoreConnection(location, access: access, lockTimeout: .seconds(60)),
            externalData: try ExternalData.open(of: location, in: folder)
        )
    }

    /// Makes random edits through the runtime, each in its own save; skips those that the store's rules forbid.
    ///
    /// Values are unique to one side, so that no two objects become equal by chance.
    static func edit(_ location: StoreLocation, as number: Int, _ generator: inout SeededGenerator) throws {
        var description = PersistentStoreDescription(url: location.url)
        description.isHistoryTrackingEnabled = true
        let coordinator = PersistentStoreCoordinator()
        let store = try coordinator.addPersistentStore(with: description)
        defer { coordinator.remove(store) }
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator, name: "editor \(number)")
        let connection = try StoreConnection(location, access: .liveReading)
        let layout = try StoreLayout(reading: connection)
        let entities = (layout?.entities.values.map { $0 } ?? []).filter { !$0.isAbstract }
            .sorted { $0.number < $1.number }
        var serial = number * 1000
        for _ in 0..<12 {
            guard let entity = entities.randomElement(using: &generator) else { return }
            let choice = Int.random(in: 0..<6, using: &generator)
            serial += 1
            generator = try context.performAndWait { [generator, serial] context in
                var chance = generator
                do {
                    try step(choice, entity, serial, context, &chance)
                    try context.save()
                } catch {
                    try context.rollback()
                }
                return chance
            }
        }
    }

    private static func step(
        _ choice: Int,
        _ entity: StoreLayout.Entity,
        _ serial: Int,
        _ context: isolated ManagedObjectContext,
        _ generator: inout SeededGenerator
    ) throws {
        var request = FetchRequest(entityName: entity.name)
        request.includesSubentities = false
        let object = try any(request, context, &generator)
        switch (choice, object) {
        case (0, _), (_, nil):
            let new = try context.insertNewObject(forEntityName: entity.name)
            for attribute in new.shape.attributes { try set(attribute, of: new, serial) }
        case (1, let object?): try context.delete(object)
        case (2, let object?):
            let place = entity.relationships.filter { !$0.description.isToMany }.randomElement(using: &generator)
            guard let place else { return }
            let destination = try any(
                FetchRequest(entityName: place.description.destination),
                context,
                &generator
            )
            try object.setObject(destination, forKey: place.description.name)
        case (_, let object?):
            guard let attribute = object.shape.attributes.randomElement(using: &generator) else { return }
            try set(attribute, of: object, serial)
        }
    }

    /// A random object of a request; nil if there is none.
    private static func any(
        _ request: FetchRequest<ManagedObject>,
        _ context: isolated ManagedObjectContext,
        _ generator: inout SeededGenerator
    ) throws -> ManagedObject? {
        let count = try context.count(for: request)
        guard count > 0 else { return nil }
        var request = request
        request.fetchLimit = 1
        request.fetchOffset = Int.random(in: 0..<count, using: &generator)
        return try context.fetch(request).first
    }

    private static func set(_ attribute: AttributeDescription, of object: ManagedObject, _ serial: Int) throws {
        guard !attribute.isDerived, !attribute.isTransient else { return }
        let value: AttributeValue? =
            switch attribute.type {
            case .integer16, .integer32, .integer64: .integer(Int64(serial))
            case .decimal: .decimal(Decimal(serial))
            case .double, .float: .real(Double(serial) + 0.5)
            case .string: .string("edit \(serial)")
            case .boolean: .boolean(serial % 2 == 0)
            case .date: .date(Date(timeIntervalSinceReferenceDate: Double(serial) + 0.5))
            case .binaryData, .transformable:
                .data(Data([UInt8(truncatingIfNeeded: serial), UInt8(truncatingIfNeeded: serial >> 8)]))
            case .uuid: .uuid(UUID())
            case .uri: .uri("https://example.com/\(serial)")
            case .undefined, .objectID, .composite: nil
            }
        if let value { try object.setValue(value, forKey: attribute.name) }
    }
}
