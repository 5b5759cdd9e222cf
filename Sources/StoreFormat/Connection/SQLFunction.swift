/// A function that SQL statements may call once it is installed on a connection.
///
/// It must be pure: equal arguments give equal results. Schemas, triggers and views cannot call it.
package struct SQLFunction: Sendable {
    package let name: String
    package let argumentCount: Int
    /// An error ends the statement, which reports the error's own text.
    package let body: @Sendable ([SQLValue]) throws -> SQLValue

    package init(name: String, argumentCount: Int, body: @escaping @Sendable ([SQLValue]) throws -> SQLValue) {
        self.name = name
        self.argumentCount = argumentCount
        self.body = body
    }
}
