import StoreAccess
import TestSupport
import Testing

@Suite("StoreFence")
struct StoreFenceTests {
    private static let transaction = "0123456789abcdef0123456789abcdef"

    private func trigger(
        _ event: String,
        number: Int = 1,
        transaction: String = transaction,
        path: String,
        on table: String = "t"
    ) -> String {
        let name = SQLName.quoted("\(StoreFence.prefix)\(transaction)_\(number)_\(event)")
        let message = SQLName.literal("store moved to \(path) (store-migrate \(transaction))")
        return "CREATE TRIGGER \(name) BEFORE \(event.uppercased()) ON \(SQLName.quoted(table)) "
            + "BEGIN SELECT RAISE(ABORT, \(message)); END;"
    }

    private func fence(_ sql: String) throws -> StoreFence? {
        let scratch = try ScratchFolder()
        let location = try scratch.makeStore("CREATE TABLE t(a);" + sql)
        return try StoreFence(reading: StoreConnection(location, access: .immutable))
    }

    @Test(
        "A fence's new path with special characters is read back",
        arguments: [
            "/a/b.sqlite", "/it's/b.sqlite", "/a \"b\" (c)/d", "/a\nb", "/\u{301}é", "/x (store-migrate y)",
            "/--a /*b*/",
        ]
    )
    func newPath(_ path: String) throws {
        let events = ["insert", "update", "delete"]
        let fence = try fence(events.map { trigger($0, path: path) }.joined())
        #expect(fence?.newPath == path)
        #expect(fence?.transaction == Self.transaction)
        #expect(fence?.triggerCount == 3)
    }

    @Test("A store with only other triggers has no fence", arguments: OtherTrigger.all)
    func none(_ row: OtherTrigger) throws {
        #expect(try fence(row.sql) == nil)
    }

    @Test("A fence refuses writes and permits reads")
    func refuses() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore("CREATE TABLE t(a); INSERT INTO t VALUES (1);" + trigger("insert", path: "/new/place"))
        let connection = try scratch.open()
        #expect {
            try connection.execute("INSERT INTO t VALUES (2)")
        } throws: { "\($0)".contains("store moved to /new/place") }
        #expect(try connection.value("SELECT count(*) FROM t") == .integer(1))
    }
}

struct OtherTrigger: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var sql: String

    private static let rest = "BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, 'store moved to /x (store-migrate 1)'); END"

    static let all = [
        Self(testDescription: "no trigger", sql: ""),
        Self(testDescription: "another name", sql: "CREATE TRIGGER xstore_migrate_fence_1_1_insert \(rest)"),
        Self(testDescription: "a short transaction", sql: "CREATE TRIGGER _store_migrate_fence_abc_1_insert \(rest)"),
        Self(
            testDescription: "no event",
            sql: "CREATE TRIGGER _store_migrate_fence_0123456789abcdef0123456789abcdef_1 \(rest)"
        ),
        Self(
            testDescription: "another message",
            sql: "CREATE TRIGGER _store_migrate_fence_0123456789abcdef0123456789abcdef_1_insert \(rest)"
        ),
    ]
}
