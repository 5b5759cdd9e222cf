import StoreAccess
import Testing

@testable import StoreVerification

@Suite("Virtual tables")
struct VirtualTableTests {
    private func findings(in store: ScratchStore, _ access: StoreConnection.Access) throws -> [Finding] {
        let connection = try StoreConnection(store.location, access: access)
        return try StructureProof(connection, monitor: .silent).findings()
    }

    @Test("Damage of a spatial index is found")
    func spatial() throws {
        let store = try ScratchStore(
            "CREATE VIRTUAL TABLE area USING rtree(id, minX, maxX); INSERT INTO area VALUES (1, 0, 1), (2, 5, 6)"
        )
        #expect(try findings(in: store, .immutable) == [])
        try store.execute("UPDATE area_rowid SET nodeno = 99 WHERE rowid = 2")
        #expect(try findings(in: store, .immutable).map(\.code) == [.virtualTableDamaged])
    }

    @Test("A full-text index is checked on a copy, and skipped on a live store", arguments: ["fts4", "fts5"])
    func text(_ module: String) throws {
        let store = try ScratchStore(
            "CREATE VIRTUAL TABLE word USING \(module)(body); INSERT INTO word VALUES ('alpha beta'), ('gamma')"
        )
        #expect(try findings(in: store, .privateCopy) == [])
        #expect(try findings(in: store, .immutable).map(\.code) == [.notProved])
        let column = module == "fts4" ? "c0body" : "c0"
        try store.execute("UPDATE word_content SET \(column) = 'delta' WHERE rowid = 1")
        let bytes = try store.bytes
        #expect(try findings(in: store, .privateCopy).map(\.code) == [.virtualTableDamaged])
        #expect(try store.bytes == bytes)
    }

    @Test(
        "A store with a log is proved in place, and one with a full-text index in a copy",
        arguments: [nil, "fts4", "fts5"]
    )
    func withLog(_ module: String?) throws {
        let store = try ScratchStore("PRAGMA journal_mode=WAL; CREATE TABLE item (a)")
        if let module {
            let column = module == "fts4" ? "c0body" : "c0"
            try store.execute(
                """
                CREATE VIRTUAL TABLE word USING \(module)(body); INSERT INTO word VALUES ('alpha');
                UPDATE word_content SET \(column) = 'delta'
                """
            )
        }
        let writer = try StoreConnection(store.location, access: .liveWriting)
        try writer.execute("INSERT INTO item VALUES (1)")
        var kinds: [StoreView.Kind] = []
        for level in [VerificationLevel.files, .sqlite] {
            try StoreReader().readForProof(store.location, upTo: level) { kinds.append($0.kind) }
        }
        #expect(kinds == [.unlocked, module == nil ? .unlocked : .privateCopy])
        let report = try StoreVerifier().verify(store.location, level: .sqlite)
        #expect(report.findings.map(\.code) == (module == nil ? [] : [.virtualTableDamaged]))
        try writer.close()
    }

    @Test("A table of an unknown module is reported as unproved")
    func unknown() throws {
        let store = try ScratchStore("CREATE TABLE item (a)")
        try store.execute(
            """
            PRAGMA writable_schema=ON;
            INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, 'CREATE VIRTUAL TABLE x USING unknown(a)')
            """
        )
        #expect(try findings(in: store, .immutable).map(\.code) == [.notProved])
    }
}
