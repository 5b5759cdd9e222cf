import StoreAccess
import TestSupport
import Testing

@Suite("Custom SQL functions")
struct SQLFunctionTests {
    private static let echo = SQLFunction(name: "echo", argumentCount: 2) { $0.last ?? .null }

    @Test(
        "A function receives and returns values unchanged",
        arguments: [
            .null, .integer(.min), .real(0.1), .text(""), .text("a\0é"), .blob([]), .blob([0, 255]),
        ] as [SQLValue]
    )
    func values(value: SQLValue) throws {
        let scratch = try ScratchFolder()
        let location = try scratch.makeStore("CREATE TABLE t (a)")
        let connection = try StoreConnection(location, access: .immutable)
        try connection.install(Self.echo)
        #expect(try connection.value("SELECT echo(1, ?)", [value]) == value)
        #expect(throws: StoreError.self) { try connection.value("SELECT echo(1)") }
    }

    @Test("A function's error ends the statement with its text")
    func failing() throws {
        struct Refusal: Error, CustomStringConvertible {
            let description = "not this one"
        }
        let scratch = try ScratchFolder()
        let connection = try StoreConnection(scratch.makeStore("CREATE TABLE t (a)"), access: .immutable)
        try connection.install(SQLFunction(name: "refuse", argumentCount: 1) { _ in throw Refusal() })
        let error = #expect(throws: StoreError.self) { try connection.value("SELECT refuse(1)") }
        #expect(error?.description.contains("not this one") == true)
        #expect(try connection.value("SELECT 1") == .integer(1))
    }

    @Test("A function replaces one of the same name, and a file's schema cannot call it")
    func reach() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore("CREATE TABLE t (a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT echo(1, 2); END")
        let connection = try scratch.open()
        try connection.install(Self.echo)
        #expect(throws: StoreError.self) { try connection.run("INSERT INTO t VALUES (1)", []) }
        try connection.install(SQLFunction(name: "echo", argumentCount: 2) { _ in .text("new") })
        #expect(try connection.value("SELECT echo(1, 2)") == .text("new"))
        try connection.close()
        #expect(throws: StoreError.self) { try connection.install(Self.echo) }
    }
}
