import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification
import StoreWriting
import TestSupport
import Testing

@Suite("Random changes of a graph of objects")
struct RowWriterPropertyTests {
    private static func relationship(
        _ name: String,
        _ destination: String,
        _ inverse: String?,
        many: Bool = false,
        ordered: Bool = false,
        _ rule: RelationshipDescription.DeleteRule = .nullify
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name,
            destination: destination,
            inverse: inverse,
            maxCount: many ? 0 : 1,
            isOrdered: ordered,
            deleteRule: rule
        )
    }

    /// Every kind of relationship, between entities of which one has a subentity.
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Person",
            attributes: [AttributeDescription(name: "age", type: .integer64)],
            relationships: [
                relationship("spouse", "Person", "spouseOf"),
                relationship("spouseOf", "Person", "spouse"),
                relationship("friends", "Person", "friends", many: true),
                relationship("fancies", "Pet", nil),
                relationship("pets", "Pet", "keeper", many: true, ordered: true, .cascade),
                relationship("clubs", "Club", "members", many: true, ordered: true),
                relationship("debts", "Debt", "debtor", many: true, .deny),
                relationship("marks", "Mark", nil, many: true),
            ]
        ),
        EntityDescription(
            name: "Child",
            superentity: "Person",
            relationships: [relationship("toy", "Pet", "playmate")]
        ),
        EntityDescription(
            name: "Pet",
            relationships: [
                relationship("keeper", "Person", "pets"), relationship("playmate", "Child", "toy"),
            ]
        ),
        EntityDescription(
            name: "Club",
            relationships: [relationship("members", "Person", "clubs", many: true, ordered: true)]
        ),
        EntityDescription(name: "Debt", relationships: [relationship("debtor", "Person", "debts")]),
        EntityDescription(name: "Mark"),
    ])

    @Test(
        "The store equals an in-memory model, and its history has a change for every version",
        arguments: Seed.several(24)
    )
    func random(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let store = try NewStore(Self.model, tracksHistory: true)
        var oracle = ObjectOracle(Self.model)
        for _ in 0..<12 {
            try store.save {
                for _ in 0..<8 { try Self.step(store.writer, &oracle, &generator) }
            }
            try Self.compare(store.writer, oracle)
        }
        // The number of insertions and updates in history equals the version.
        for entity in ["Person", "Child", "Pet", "Club", "Debt", "Mark"] {
            let layout = try store.writer.entity(entity)
            let versions = """
                SELECT count(*) FROM \(SQLName.quoted(layout.table)) o WHERE Z_ENT = ?1 AND Z_OPT <>
                (SELECT count(*) FROM ACHANGE c WHERE c.ZENTITY = ?1 AND c.ZENTITYPK = o.Z_PK AND c.ZCHANGETYPE < 2)
                """
            #expect(try store.connection.value(versions, [.integer(layout.number)]) == .integer(0), "\(entity)")
        }
        let findings = try StoreVerifier()
            .findings(
                in: store.connection,
                location: store.location,
                externalData: nil,
                level: .coredata
            )
        #expect(findings == [])
    }

    private static func step(
        _ writer: RowWriter,
        _ oracle: inout ObjectOracle,
        _ generator: inout SeededGenerator
    ) throws {
        let entities = ["Person", "Child", "Pet", "Club", "Debt", "Mark"]
        guard oracle.objects.count > 6, let owner = oracle.objects.randomElement(using: &generator),
            Int.random(in: 0..<10, using: &generator) > 1
        else {
            let entity = entities.randomElement(using: &generator) ?? "Person"
            let key = ObjectKey(entity: entity, primaryKey: try writer.allocateKeys(for: entity, count: 1))
            return try insert(key, writer, &oracle, &generator)
        }
        if Int.random(in: 0..<12, using: &generator) == 0 {
            let keys = oracle.objects.shuffled(using: &generator).prefix(Int.random(in: 1...2, using: &generator))
            return try delete(Array(keys), writer, &oracle)
        }
        if owner.entity == "Person", Int.random(in: 0..<6, using: &generator) == 0 {
            return try writer.update(owner, ["age": .integer(Int64.random(in: 0..<99, using: &generator))])
        }
        let relationships = oracle.model.relationships(of: owner.entity)
        guard let relationship = relationships.randomElement(using: &generator) else { return }
        let name = relationship.name
        let present = oracle.destinations(owner, name)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0 where !present.isEmpty:
            let gone = present[Int.random(in: present.indices, using: &generator)]
            try writer.disconnect(owner, name, from: gone)
            oracle.disconnect(owner, name, gone)
        case 1 where relationship.isOrdered && present.count > 1:
            let order = present.shuffled(using: &generator)
            try writer.arrange(owner, name, in: order)
            oracle.arrange(owner, name, order)
        default:
            let candidates = oracle.objects.filter {
                oracle.model.isEntity($0.entity, kindOf: relationship.destination)
            }
            guard let destination = candidates.randomElement(using: &generator) else { return }
            try writer.connect(owner, name, to: destination)
            oracle.connect(owner, name, destination)
        }
    }

    /// Inserts an object, sometimes with a to-one relationship in the same statement.
    private static func insert(
        _ key: ObjectKey,
        _ writer: RowWriter,
        _ oracle: inout ObjectOracle,
        _ generator: inout SeededGenerator
    ) throws {
        let toOnes = oracle.model.relationships(of: key.entity).filter { !$0.isToMany }
        var destinations: [String: ObjectKey] = [:]
        if let relationship = toOnes.randomElement(using: &generator), Bool.random(using: &generator) {
            destinations[relationship.name] = oracle.objects
                .filter { oracle.model.isEntity($0.entity, kindOf: relationship.destination) }
                .randomElement(using: &generator)
        }
        try writer.insert(key, [:], toOne: destinations)
        oracle.insert(key)
        for (name, destination) in destinations { oracle.connect(key, name, destination) }
    }

    private static func delete(_ keys: [ObjectKey], _ writer: RowWriter, _ oracle: inout ObjectOracle) throws {
        if oracle.delete(keys) {
            try writer.delete(keys)
        } else {
            #expect(throws: StoreError.self) { try writer.delete(keys) }
        }
    }

    private static func compare(_ writer: RowWriter, _ oracle: ObjectOracle) throws {
        for key in oracle.objects {
            for relationship in oracle.model.relationships(of: key.entity) {
                let found = try writer.destinations(of: key, relationship.name)
                let expected = oracle.destinations(key, relationship.name)
                let name = "\(key.entity) \(key.primaryKey).\(relationship.name)"
                if relationship.isOrdered {
                    #expect(found == expected, "\(name)")
                } else {
                    #expect(found.count == Set(found).count && Set(found) == Set(expected), "\(name)")
                }
            }
        }
    }
}
