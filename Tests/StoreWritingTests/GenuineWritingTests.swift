import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification
import StoreWriting
import TestSupport
import Testing

@Suite("Writing genuine stores", .genuineStores)
struct GenuineWritingTests {
    @Test("Inserting, changing, moving and deleting objects of every entity adds no finding", arguments: Corpus.stores)
    func everyEntity(_ store: String) throws {
        guard let written = try WrittenStore(copyOf: store) else { return }
        let before = try Self.findings(written)
        let files = try Self.externalFiles(written)

        try Self.insertAll(written)
        try Self.changeAll(written)
        try Self.repointAll(written)
        try Self.expectNothingNew(written, since: before)

        try Self.partLoose(written)
        try written.save { try written.writer.delete(written.made.values.sorted { $0.entity < $1.entity }) }
        try Self.expectNothingNew(written, since: before)
        #expect(try Self.externalFiles(written) == files)
        try HistoryShape(written).check()
    }

    @Test(
        "Deleting a genuine object of every entity adds no finding",
        arguments: Corpus.stores
    )
    func deletion(_ store: String) throws {
        guard let written = try WrittenStore(copyOf: store) else { return }
        let before = try Self.findings(written)
        for entity in written.concreteEntities {
            guard let key = try written.genuine(entity) else { continue }
            // With the rule noAction keys dangle, as the model specifies.
            let isOrderly = written.layout.entities.values.flatMap(\.relationships)
                .filter { written.layout.model.isEntity(key.entity, kindOf: $0.description.destination) }
                .allSatisfy { $0.description.deleteRule != .noAction }
            guard isOrderly, entity.relationships.allSatisfy({ $0.description.deleteRule != .noAction }) else {
                continue
            }
            do {
                try written.save { try written.writer.delete(key) }
            } catch let error as StoreError {
                #expect(error.message.contains("denies the deletion"))
            }
        }
        try Self.expectNothingNew(written, since: before)
    }

    private static func insertAll(_ written: WrittenStore) throws {
        let (writer, entities) = (written.writer, written.concreteEntities)
        let result = try written.save {
            for entity in entities {
                let key = ObjectKey(
                    entity: entity.name,
                    primaryKey: try writer.allocateKeys(for: entity.name, count: 1)
                )
                written.made[entity.name] = key
            }
            for entity in entities {
                guard let key = written.made[entity.name] else { continue }
                var destinations: [String: ObjectKey] = [:]
                for relationship in entity.relationships where !relationship.description.isToMany {
                    guard relationship.description.inverse.map({ Self.isToMany($0, relationship, written) }) ?? true
                    else { continue }
                    destinations[relationship.description.name] = written.made(
                        kindOf: relationship.description.destination
                    )
                }
                try writer.insert(key, written.values(for: entity, round: 1), toOne: destinations)
            }
            for entity in entities {
                guard let key = written.made[entity.name] else { continue }
                for relationship in entity.relationships {
                    guard let destination = written.made(kindOf: relationship.description.destination) else { continue }
                    try writer.connect(key, relationship.description.name, to: destination)
                }
            }
        }
        #expect(result.changes.inserted.count == entities.count)
        #expect(result.changes.updated.isEmpty)
    }

    private static func isToMany(_ inverse: String, _ relationship: StoreLayout.Relationship, _ written: WrittenStore)
        -> Bool
    {
        written.layout.entities[relationship.description.destination]?.relationship(inverse)?.description.isToMany
            ?? true
    }

    private static func changeAll(_ written: WrittenStore) throws {
        let writer = written.writer
        let made = try written.save {
            for entity in written.concreteEntities {
                guard let key = written.made[entity.name], let version = try writer.version(of: key) else { continue }
                try writer.update(key, written.values(for: entity, round: 2), expecting: version)
            }
        }
        #expect(Set(made.changes.updated).isSuperset(of: written.changeable.compactMap { written.made[$0.name] }))
        // Sets an attribute of a genuine object that nothing else depends on.
        var changed: Set<ObjectKey> = []
        let genuine = try written.save {
            for entity in written.concreteEntities {
                let unique = written.layout.model.lineage(of: entity.name).flatMap(\.uniquenessConstraints).joined()
                let plain = entity.attributes.map(\.description)
                    .first {
                        $0.type == .string && !$0.isDerived && !unique.contains($0.name)
                    }
                guard let plain, let key = try written.genuine(entity) else { continue }
                try writer.update(key, [plain.name: .text("changed by the writer's tests")])
                changed.insert(key)
            }
        }
        #expect(Set(genuine.changes.updated) == changed)
    }

    /// Makes relationships of genuine objects refer to the test's objects.
    private static func repointAll(_ written: WrittenStore) throws {
        for entity in written.concreteEntities {
            guard let genuine = try written.genuine(entity) else { continue }
            try written.save {
                for relationship in entity.relationships {
                    let name = relationship.description.name
                    guard let destination = written.made(kindOf: relationship.description.destination) else { continue }
                    try written.writer.connect(genuine, name, to: destination)
                    let destinations = try written.writer.destinations(of: genuine, name)
                    #expect(destinations.contains(destination))
                }
            }
        }
    }

    /// Removes genuine objects from relationships that would dangle, as the rule noAction requires.
    private static func partLoose(_ written: WrittenStore) throws {
        for entity in written.concreteEntities {
            guard let genuine = try written.genuine(entity) else { continue }
            for relationship in entity.relationships {
                let inverse = relationship.description.inverse.flatMap {
                    written.layout.entities[relationship.description.destination]?.relationship($0)
                }
                guard inverse?.description.deleteRule == .noAction,
                    let made = written.made(kindOf: relationship.description.destination)
                else { continue }
                try written.save {
                    try written.writer.disconnect(genuine, relationship.description.name, from: made)
                }
                #expect(
                    try !written.writer.destinations(of: genuine, relationship.description.name).contains(made)
                )
            }
        }
    }

    private static func expectNothingNew(_ written: WrittenStore, since before: Set<String>) throws {
        let new = try findings(written).subtracting(before)
        #expect(new == [])
    }

    private static func findings(_ written: WrittenStore) throws -> Set<String> {
        let report = try StoreVerifier().verify(written.location, level: .coredata)
        return Set(report.findings.map { "\($0)" })
    }

    private static func externalFiles(_ written: WrittenStore) throws -> [String] {
        try ExternalData.open(of: written.location, in: written.scratch.directory)?.entries() ?? []
    }
}
