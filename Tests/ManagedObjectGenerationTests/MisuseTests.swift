import FoundationEssentials
import ManagedObjectGeneration
import StoreFormat
import TestSupport
import Testing

/// The compiler checks what uses the classes of the model `Habits`.
@Suite("The compiler and generated classes", .verify)
struct MisuseTests {
    /// The enumerations that the model names.
    private static let enumerations = """
        public enum Colour: String { case red }
        public enum Mood: Int16, MandatoryEnumeration { case good; public static var absentValue: Mood { .good } }
        """

    private static func complaints(
        about function: String,
        enumerations: String = Self.enumerations
    ) throws -> String {
        let compiler = SwiftCompiler()
        let source = try ModelSource(path: HabitStore.modelPath)
        let classes = ManagedObjectSource(
            model: source.model,
            annotations: source.annotations,
            origin: "Habits.xcdatamodel"
        )
        .text
        let app = "import Foundation\npublic import ManagedObjects\n\n" + enumerations + "\n\n" + function + "\n"
        return try compiler.complaints(about: ["App.swift": app, "HabitsObjects.swift": classes])
    }

    @Test("An app that uses each kind of property and request compiles without a warning")
    func use() throws {
        let complaints = try Self.complaints(
            about: """
                func closed(_ context: ManagedObjectContext) async throws -> [String] {
                    try await context.perform { context in
                        let request = FetchRequest<Habit>(
                            predicate: \\Habit.name == "x" && \\Habit.isClosed == false && (\\Habit.days).any(\\.wasExecuted == true),
                            sortDescriptors: [.init(\\.createdAt), .init(\\.days.count)]
                        )
                        let habits = try context.fetch(request)
                        habits.first?.colour = .red
                        habits.first?.steps.removeAll()
                        return habits.map(\\.name)
                    }
                }
                """
        )
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test(
        "A misuse does not compile, with a message that names the cause",
        arguments: [
            // A value of another type.
            ("func f() -> TypedPredicate<Habit> { \\Habit.name == 7 }", "'String'"),
            ("func f(_ habit: Habit) { habit.rank = \"x\" }", "cannot assign value of type 'String' to type 'Int16"),
            // Nil for an attribute that the model requires.
            ("func f(_ habit: Habit) { habit.name = nil }", "'nil' cannot be assigned to type 'String'"),
            // A property that the model lacks.
            ("func f() -> TypedPredicate<Habit> { \\Habit.nme == \"x\" }", "has no member 'nme'"),
            ("func f(_ habit: Habit) -> String { habit.title }", "has no member 'title'"),
            // A property of another entity.
            (
                "let f = FetchRequest<Habit>(predicate: \\HabitDay.wasExecuted == true)",
                "cannot convert value of type 'KeyPath<HabitDay, Bool>' to expected argument type 'KeyPath<Habit, Bool>'"
            ),
            (
                "func f(_ day: TypedPredicate<HabitDay>) -> FetchRequest<Habit> { FetchRequest(predicate: day) }",
                "'FetchRequest<HabitDay>' to return type 'FetchRequest<Habit>'"
            ),
            // An order without meaning.
            ("let f = FetchRequest<Habit>(sortDescriptors: [.init(\\.days)])", "sort by its count"),
            ("let f = FetchRequest<Habit>(sortDescriptors: [.init(\\.leader)])", "sort by one of its attributes"),
            // A relationship as a value.
            (
                "func f(_ days: Set<HabitDay>) -> TypedPredicate<Habit> { \\Habit.days == days }",
                "use any, all, none, contains or count"
            ),
            (
                "func f(_ days: Set<HabitDay>) -> TypedPredicate<Habit> { \\Habit.days != days }",
                "use any, all, none, contains or count"
            ),
            ("func f(_ habit: Habit, _ step: Step) { habit.days = [step] }", "'Step' to expected"),
            // An object that leaves its context.
            (
                "func f(_ c: ManagedObjectContext) async throws -> Habit { try await c.perform { try $0.insertNewObject(Habit.self) } }",
                "Sendable"
            ),
            (
                "func f(_ c: ManagedObjectContext) async throws -> [Habit] { try await c.fetch(FetchRequest<Habit>()) }",
                "Sendable"
            ),
            (
                "func f(_ habit: Habit, _ c: ManagedObjectContext) async { await c.perform { _ in habit.name = \"x\" } }",
                "Sendable"
            ),
        ]
    )
    func misuse(_ function: String, _ cause: String) throws {
        let complaints = try Self.complaints(about: function)
        #expect(complaints.contains("App.swift") && complaints.contains("error:"), "\(function): \(complaints)")
        #expect(complaints.contains(cause), "\(function): \(complaints)")
    }

    @Test("An enumeration that is not public, or names no case for unknown values, does not compile")
    func enumerations() throws {
        var complaints = try Self.complaints(
            about: "",
            enumerations: Self.enumerations.replacing("public enum Colour", with: "enum Colour")
        )
        #expect(complaints.contains("property cannot be declared public because its type uses an internal type"))
        complaints = try Self.complaints(
            about: "",
            enumerations: "public enum Colour: String { case red }\npublic enum Mood: Int16 { case good }"
        )
        #expect(complaints.contains("conform to 'MandatoryEnumeration'"), "\(complaints)")
    }

    @Test("Every model of the corpus and of its stores compiles without a warning", .genuineStores)
    func corpus() throws {
        let compiler = SwiftCompiler()
        for model in CorpusModel.all {
            let source = try model.withPath { try ModelSource(path: $0) }
            let text = ManagedObjectSource(model: source.model, annotations: source.annotations, origin: "Model").text
            let complaints = try compiler.complaints(about: ["Model.swift": text, "Other.swift": ""])
            #expect(complaints.isEmpty, "\(model): \(complaints.prefix(2000))")
        }
        #expect(CorpusModel.all.count >= Corpus.stores.count)
    }

    @Test("Classes with unusual names compile without a warning")
    func unusualNames() throws {
        let names = [
            "class", "default", "self", "Type", "init", "objectID", "value", "set", "get", "any", "some", "entityName",
            "first name", "first-name", "Any", "Set", "Data", "2nd", "_", "größe", "日付", "🎸", "a\"b", "await", "x\ny",
            "❤️", "☂️", "👨‍👩‍👧", "1️⃣", "🇩🇪", "e\u{301}cole", "école", "ﷺ", "℘", "ª", "²", "x²", "\u{3164}", "a\u{200D}b",
            "\u{FE0F}",
            "properties", "Subclass", "TypedProperty", "list", "ー", "゛", "・", "٣", "𝒳", "name_", "$0", "`",
            "modelClasses", "shape", "graph", "status", "base", "description", "Habit", "newValue", "path",
            "all classes",
        ]
        let attributes = names.map { AttributeDescription(name: $0, type: .binaryData, isOptional: false) }
        let model = ManagedObjectModel(
            entities: names.map { EntityDescription(name: $0, attributes: attributes) }
                + [EntityDescription(name: "Child", superentity: "Any", attributes: attributes)]
        )
        let text = ManagedObjectSource(model: model, origin: "Names").text
        let complaints = try SwiftCompiler().complaints(about: ["Model.swift": text, "Other.swift": ""])
        #expect(complaints.isEmpty, "\(complaints.prefix(4000))")
    }
}
