import ChangeMerging
import StoreAccess
import StoreFormat
import StoreWriting
import TestSupport
import Testing

@Suite("Merging random stores with unique values", .sampled)
struct UniquenessPropertyTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Tag",
            attributes: [
                AttributeDescription(name: "code", type: .integer64), AttributeDescription(name: "text", type: .string),
            ],
            uniquenessConstraints: [["code"]]
        ),
        EntityDescription(name: "Label", superentity: "Tag"),
    ])

    @Test(
        "Unique values never fail a merge, and every value of the old side is merged or parked",
        arguments: RandomTriples.seeds
    )
    func random(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let triple = try MergeTriple(Self.model) { try Self.change($0, 12, "base", &generator) }
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try Self.change(old, Int.random(in: 1...14, using: &generator), "old", &generator)
        try Self.change(shared, Int.random(in: 0...14, using: &generator), "shared", &generator)
        var settings = MergeSettings()
        settings.policy =
            [.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback]
            .randomElement(using: &generator) ?? .mergeByPropertyStoreTrump
        let texts = try Self.texts(old)
        let formerTexts = try Self.texts(triple.store("base"))
        let (oldBefore, sharedBefore) = (Set(texts), Set(try Self.texts(shared)))
        var parked: Set<StoredValue> = []
        let (plan, _) = try triple.merge(settings) { row in if let text = row.values["text"] { parked.insert(text) } }
        let merged = Set(try Self.texts(shared))
        // Each change set a text that no object had before.
        for text in oldBefore.subtracting(formerTexts) {
            #expect(merged.contains(text) || parked.contains(.text(SQLText(text))), "\(text), seed \(seed): \(plan)")
        }
        for text in sharedBefore.subtracting(formerTexts) {
            #expect(merged.contains(text) || parked.contains(.text(SQLText(text))), "\(text), seed \(seed): \(plan)")
        }
        let codes = "SELECT count(ZCODE) - count(DISTINCT ZCODE) FROM ZTAG"
        #expect(try shared.connection.value(codes) == .integer(0), "seed \(seed)")
    }

    private static func texts(_ store: MergeStore) throws -> [String] {
        var found: [String] = []
        try store.connection.forEachRow("SELECT ZTEXT FROM ZTAG WHERE ZTEXT NOT NULL") {
            found.append($0.text(0) ?? "")
        }
        return found
    }

    private static func change(
        _ store: MergeStore,
        _ steps: Int,
        _ side: String,
        _ generator: inout SeededGenerator
    ) throws {
        try store.save { writer in
            for step in 0..<steps {
                let objects = try store.objects()
                let values: [String: SQLValue] = [
                    "code": .integer(Int64.random(in: 0..<12, using: &generator)), "text": .text("\(side) \(step)"),
                ]
                let target = objects.randomElement(using: &generator)
                switch (Int.random(in: 0..<8, using: &generator), target) {
                case (0, let key?): try writer.delete(key)
                // A value of another object is rejected, and the object stays unchanged.
                case (1...4, let key?): try? writer.update(key, values)
                default:
                    let entity = Bool.random(using: &generator) ? "Tag" : "Label"
                    let key = ObjectKey(entity: entity, primaryKey: try writer.allocateKeys(for: entity, count: 1))
                    try? writer.insert(key, values)
                }
            }
        }
    }
}
