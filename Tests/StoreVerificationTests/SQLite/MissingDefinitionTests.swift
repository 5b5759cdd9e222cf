import StoreAccess
import Testing

@testable import StoreVerification

@Suite("Collations and functions that only a store's own programs define")
struct MissingDefinitionTests {
    @Test(
        "A table that needs one is reported as unproved, and the other tables are still checked",
        arguments: [
            ("CREATE INDEX i ON t (v COLLATE own)", "the collation own"),
            ("CREATE INDEX i ON t (own(v))", "the function own()"),
        ]
    )
    func unproved(_ definition: String, _ name: String) throws {
        let store = try ScratchStore(
            """
            CREATE TABLE t (v TEXT); CREATE INDEX i ON t (v); INSERT INTO t VALUES ('a'), ('b');
            CREATE TABLE u (v TEXT NOT NULL); INSERT INTO u VALUES ('a')
            """
        )
        try store.redefineIndex("i", as: definition)
        let connection = try StoreConnection(store.location, access: .immutable)
        let findings = try StructureProof(connection, monitor: .silent).findings()
        #expect(findings.map(\.code) == [.notProved])
        #expect(findings.allSatisfy { $0.table == "t" && $0.severity == .info && $0.message.contains(name) })

        try store.redefineIndex("u", as: "CREATE TABLE u (v TEXT NOT NULL, w NOT NULL)")
        let changed = try StoreConnection(store.location, access: .immutable)
        let found = try StructureProof(changed, monitor: .silent).findings()
        #expect(found.contains { $0.code == .constraintBroken && $0.message.contains("u.w") })
    }
}
