import ModelMigration
import StoreAccess
import StoreFormat
import TestSupport
import Testing

/// Models with many elements: the work grows with their number, and can be cancelled.
@Suite("Mappings of large models")
struct LargeModelTests {
    private struct Stop: Error {}

    /// A model of entities with three properties each, half of them in one inheritance tree; `version` renames some.
    private static func wide(_ count: Int, version: Int) -> ManagedObjectModel {
        let entities = (0..<count)
            .map { index in
                let renamed = version == 2 && index.isMultiple(of: 3)
                return entity(
                    renamed ? "New\(index)" : "E\(index)",
                    was: renamed ? "E\(index)" : nil,
                    parent: index.isMultiple(of: 2) ? "Root" : nil,
                    [attribute("a\(index)"), attribute(version == 2 ? "n\(index)" : "b\(index)", was: "b\(index)")],
                    [toOne("next\(index)", "Root")]
                )
            }
        return ManagedObjectModel(entities: entities + [entity("Root", [attribute("name")])])
    }

    /// One entity with many attributes, a constraint and an index for each.
    private static func long(_ count: Int, prefix: String) -> ManagedObjectModel {
        let names = (0..<count).map { prefix + String($0) }
        return model(
            entity(
                "A",
                names.enumerated().map { attribute($1, was: "a\($0)") },
                unique: names.map { [$0] },
                indexes: names.map { FetchIndexDescription(name: "by" + $0, properties: [$0]) }
            )
        )
    }

    // A quadratic inference takes many times the limit.
    @Test("A mapping of 6,000 entities finds every renaming", .timeLimit(.minutes(1)))
    func manyEntities() throws {
        let mapping = try InferredMapping(
            from: Self.wide(6_000, version: 1),
            to: Self.wide(6_000, version: 2)
        )
        #expect(mapping.entities.count == 6_001)
        #expect(mapping.changes.count { $0.kind == .entityRenamed } == 2_000)
        #expect(mapping.changes.count { $0.kind == .attributeRenamed } == 6_000)
        #expect(mapping.target(of: "E3") == "New3")
        #expect(mapping.entity("New3")?.attribute("n3")?.source?.name == "b3")
    }

    @Test("A mapping of 6,000 attributes with constraints and indexes follows every name", .timeLimit(.minutes(1)))
    func manyProperties() throws {
        let mapping = try InferredMapping(
            from: Self.long(6_000, prefix: "b"),
            to: Self.long(6_000, prefix: "c")
        )
        #expect(mapping.changes.count { $0.kind == .attributeRenamed } == 6_000)
        #expect(mapping.changes.allSatisfy { ![.constraintAdded, .constraintRemoved].contains($0.kind) })
        #expect(mapping.requirements.isEmpty)
    }

    @Test("An inference stops when its check throws, and asks for each entity")
    func cancelled() throws {
        let (source, target) = (Self.wide(100, version: 1), Self.wide(100, version: 2))
        var calls = 0
        #expect(throws: Stop.self) {
            try InferredMapping(
                from: source,
                to: target,
                checking: {
                    calls += 1
                    if calls == 40 { throw Stop() }
                }
            )
        }
        #expect(calls == 40)
        calls = 0
        _ = try InferredMapping(from: source, to: target, checking: { calls += 1 })
        #expect(calls == 101)
    }

    @Test("A cancelled caller gets no migrator, and the store stays as it is")
    func cancelledMigrator() throws {
        try withStore(Self.wide(20, version: 1), "SELECT 1") { connection, _ in
            let target = MigrationTarget(ModelFile(model: Self.wide(20, version: 2)), path: "")
            let error = #expect(throws: StoreError.self) {
                try connection.stopping(by: WorkMonitor(isCancelled: { true })) {
                    try ModelMigrator(connection, to: target)
                }
            }
            #expect(error?.code == .cancelled)
            #expect(throws: Never.self) { try ModelMigrator(connection, to: target).migrate() }
        }
    }
}
