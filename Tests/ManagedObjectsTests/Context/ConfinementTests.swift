import TestSupport
import Testing

@Suite("The compiler keeps objects inside their context", .verify)
struct ConfinementTests {
    private static let head = "import ManagedObjects\n\n"

    @Test("An app that takes only values and IDs out of a context compiles")
    func values() throws {
        let compiler = SwiftCompiler()
        let source =
            Self.head + """
                func rename(_ id: ManagedObjectID, in context: ManagedObjectContext) async throws -> String? {
                    let title = try await context.perform { context in
                        let book = try context.object(with: id)
                        try book.setValue("renamed", forKey: "title")
                        try context.save()
                        return try book.value(String.self, forKey: "title")
                    }
                    return try context.performAndWait { try $0.object(with: id).value(forKey: "title") } ?? title
                }
                """
        #expect(try compiler.complaints(about: source) == "")
    }

    @Test(
        "An app that takes an object out of a context does not compile",
        arguments: [
            """
            func returned(_ id: ManagedObjectID, _ context: ManagedObjectContext) async throws -> ManagedObject {
                try await context.perform { try $0.object(with: id) }
            }
            """,
            """
            func waited(_ id: ManagedObjectID, _ context: ManagedObjectContext) throws -> ManagedObject {
                try context.performAndWait { try $0.object(with: id) }
            }
            """,
            """
            func captured(_ id: ManagedObjectID, _ context: ManagedObjectContext) throws {
                var object: ManagedObject?
                try context.performAndWait { object = try $0.object(with: id) }
                _ = object
            }
            """,
            """
            func asked(_ id: ManagedObjectID, _ context: ManagedObjectContext) async throws -> ManagedObject {
                try await context.object(with: id)
            }
            """,
            """
            func broughtAlong(_ object: ManagedObject, _ context: ManagedObjectContext) async throws {
                try await context.perform { try $0.delete(object) }
            }
            """,
            """
            func sentOn(_ id: ManagedObjectID, _ context: ManagedObjectContext) async throws {
                try await context.perform { context in
                    let object = try context.object(with: id)
                    Task.detached { _ = object.isFault }
                    _ = object.hasChanges
                }
            }
            """,
        ]
    )
    func leak(_ function: String) throws {
        let compiler = SwiftCompiler()
        let complaints = try compiler.complaints(about: Self.head + function + "\n")
        #expect(complaints.contains("App.swift"))
        #expect(complaints.contains("error:"))
        #expect(complaints.contains("Sendable") || complaints.contains("sending"), "\(complaints)")
    }
}
