import FoundationEssentials
import ManagedObjectGeneration
import StoreFixtures
import StoreFormat
import TestSupport
import Testing

@Suite("Generated classes")
struct SourceTests {
    private static func attribute(_ name: String, isOptional: Bool = true) -> AttributeDescription {
        AttributeDescription(name: name, type: .string, isOptional: isOptional)
    }

    private static func text(
        _ entities: EntityDescription...,
        annotations: ModelAnnotations = ModelAnnotations()
    ) -> String {
        ManagedObjectSource(
            model: ManagedObjectModel(entities: entities),
            annotations: annotations,
            origin: "Test"
        )
        .text
    }

    /// The declarations of properties: `name: Type` by the name in the model.
    private static func properties(_ text: String) -> [String: String] {
        var result: [String: String] = [:]
        let lines = text.split(separator: "\n").map(String.init)
        for (line, next) in zip(lines, lines.dropFirst()) {
            guard let declaration = line.firstMatch(of: /var (.+: .+) \{/),
                let key = next.firstMatch(of: /get \{ self\[\w+: "(.*)"\] \}/)
            else { continue }
            result[String(key.1)] = String(declaration.1)
        }
        return result
    }

    /// The models whose classes are committed, each with that file, below the package.
    static let committed = [
        (
            "Tests/ManagedObjectGenerationTests/Habits.xcdatamodel",
            "Tests/ManagedObjectGenerationTests/Typed/HabitsObjects.swift"
        ),
        ("Fixtures/HabitCalendar/HabitCalendar.yaml", "Fixtures/HabitCalendar/HabitData/HabitObjects.swift"),
    ]

    @Test("The classes of these tests and of the demonstration are those of their models", arguments: committed)
    func golden(_ model: String, _ file: String) throws {
        let package = URL(filePath: HabitStore.modelPath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let model = package.appending(path: model)
        let source = try ModelSource(path: model.path)
        let text = ManagedObjectSource(
            model: source.model,
            annotations: source.annotations,
            origin: model.lastPathComponent
        )
        .text
        #expect(try String(contentsOf: package.appending(path: file), encoding: .utf8) == text)
    }

    @Test("Keywords, clashes and characters without a place in an identifier are renamed, by the same rule each time")
    func names() {
        let parent = EntityDescription(
            name: "my entity",
            attributes: [
                "class", "default", "self", "Type", "objectID", "hash", "value", "first name", "first-name",
                "firstName",
                "NAME", "URLString", "2nd", "_", "größe", "日付", "🎸", "❤️", "a\"b\\c", "line\nbreak",
            ]
            .map { Self.attribute($0) }
        )
        let child = EntityDescription(
            name: "Date",
            superentity: "my entity",
            attributes: [Self.attribute("first name"), Self.attribute("Class"), Self.attribute("naMe")]
        )
        let text = Self.text(parent, child, EntityDescription(name: "MyEntity"), EntityDescription(name: "9 lives"))
        let properties = Self.properties(text)
        let expected = [
            "class": "`class`", "default": "`default`", "self": "selfProperty", "Type": "type",
            "objectID": "objectIDProperty",
            "hash": "hashProperty", "value": "valueProperty", "first name": "firstName",
            "first-name": "firstNameProperty",
            "firstName": "firstNameProperty2", "NAME": "name", "URLString": "urlString", "2nd": "_2nd", "_": "property",
            "größe": "größe", "日付": "日付", "🎸": "propertyProperty", #"a\"b\\c"#: "aBC", #"line\u{a}break"#: "lineBreak",
            "Class": "classProperty", "naMe": "naMe", "❤️": "propertyProperty2",
        ]
        #expect(properties == expected.mapValues { $0 + ": String?" })
        #expect(text.contains("open class MyEntity: ManagedObject, TypedObject {"))
        #expect(text.contains("open class MyEntityObject: ManagedObject, TypedObject {"))
        #expect(text.contains("open class DateObject: MyEntityObject {"))
        #expect(text.contains("open class _9Lives: ManagedObject, TypedObject {"))
        #expect(text.contains("/// Its name in the model is \"first name\"."))
    }

    @Test("Attributes have the type and optionality of the model, relationships those of their destination")
    func types() {
        let types = AttributeDescription.AttributeType.allCases
        let all = EntityDescription(
            name: "All",
            attributes: types.map { AttributeDescription(name: "\($0)", type: $0) }
                + types.map { AttributeDescription(name: "required_\($0)", type: $0, isOptional: false) }
                + [AttributeDescription(name: "derived", type: .integer64, isOptional: false, isDerived: true)],
            relationships: [
                RelationshipDescription(name: "one", destination: "All", isOptional: false),
                RelationshipDescription(name: "many", destination: "All", maxCount: 0),
                RelationshipDescription(name: "list", destination: "All", maxCount: 5, isOrdered: true),
                RelationshipDescription(name: "lost", destination: "Nowhere"),
            ]
        )
        let text = Self.text(all)
        let swift: [AttributeDescription.AttributeType: String] = [
            .integer16: "Int16", .integer32: "Int32", .integer64: "Int64", .decimal: "Decimal", .double: "Double",
            .float: "Float", .string: "String", .boolean: "Bool", .date: "Date", .binaryData: "Data", .uuid: "UUID",
            .uri: "URL", .transformable: "Data",
        ]
        var expected = [
            "one": "one: All?", "many": "many: Set<All>", "list": "list: [All]", "lost": "lost: ManagedObject?",
        ]
        for type in types {
            expected["\(type)"] = "\(type): " + (swift[type].map { $0 + "?" } ?? "AttributeValue")
            expected["required_\(type)"] = "required_\(type): " + (swift[type] ?? "AttributeValue")
        }
        expected["objectID"] = "objectIDProperty: AttributeValue"
        #expect(Self.properties(text) == expected)
        #expect(text.contains("    final public var derived: Int64? { self[attribute: \"derived\"] }\n"))
        #expect(text.contains("public import Foundation\npublic import ManagedObjects\npublic import StoreFormat\n"))
        #expect(!Self.text(EntityDescription(name: "A", attributes: [Self.attribute("a")])).contains("Foundation"))
    }

    @Test("Comments, enumerations and fetched properties come from a document, and none of it breaks the source")
    func annotations() throws {
        let scratch = try ScratchFolder()
        try scratch.write(
            "Model",
            Array(
                """
                <?xml version="1.0"?><model><entity name="A">
                <attribute name="kind" attributeType="Integer 16"><userInfo><entry key="attributeValueScalarType" value="Kind"/>
                <entry key="comment" value="First.&#10;*/ Second \u{202E}third."/></userInfo></attribute>
                <attribute name="optional" attributeType="String" optional="YES"><userInfo><entry key="enum" value="App.Kind"/></userInfo></attribute>
                <attribute name="count" attributeType="Integer 32"><userInfo><entry key="attributeValueScalarType" value="int32_t"/></userInfo></attribute>
                <attribute name="size" attributeType="Double"><userInfo><entry key="attributeValueScalarType" value="Double"/></userInfo></attribute>
                <attribute name="odd" attributeType="String"><userInfo><entry key="enum" value="A; exit(1)"/></userInfo></attribute>
                <fetchedProperty name="kind" optional="YES"><fetchRequest name="f" entity="A" predicateString='odd == "x"'/>
                </fetchedProperty><fetchedProperty name="gone"><fetchRequest name="f" entity="B"/></fetchedProperty>
                </entity></model>
                """
                .utf8
            )
        )
        let source = try ModelSource(path: scratch.path + "/Model")
        let text = ManagedObjectSource(model: source.model, annotations: source.annotations, origin: "Model").text
        #expect(
            text.contains(
                "    /// First.\n    /// */ Second third.\n    final public var kind: Kind {\n        get { self[mandatoryRawValue: \"kind\"] }"
            )
        )
        #expect(text.contains("final public var odd: String {"))
        #expect(text.contains("final public var optional: App.Kind? {\n        get { self[rawValue: \"optional\"] }"))
        // The name of a scalar type says nothing about the attribute's type, which the model has.
        #expect(text.contains("final public var count: Int32 {") && text.contains("final public var size: Double {"))
        #expect(
            text.contains(
                """
                    public func kindProperty() throws -> [A] {
                        try fetchedProperty(A.self, predicate: "odd == \\"x\\"")
                    }
                """
            )
        )
        #expect(!text.contains("gone"))
    }

    @Test("A malformed model has classes too: a cycle of parents, a missing parent, a property that its parent has")
    func malformed() {
        let text = Self.text(
            EntityDescription(name: "A", superentity: "B", attributes: [Self.attribute("x")]),
            EntityDescription(name: "B", superentity: "A"),
            EntityDescription(name: "C", superentity: "Nowhere", attributes: [Self.attribute("x")]),
            EntityDescription(name: "D", superentity: "C", attributes: [Self.attribute("x")])
        )
        for name in ["A", "B", "C"] { #expect(text.contains("open class \(name): ManagedObject, TypedObject {")) }
        #expect(text.contains("open class D: C {"))
        #expect(text.components(separatedBy: "var x: String?").count == 3)
    }

    @Test("A model is read from a document, a recipe and a store alike")
    func sources() throws {
        let scratch = try ScratchFolder()
        let recipe = """
            seed: books
            model:
              entities:
                Book:
                  attributes: {title: string}
                  relationships: {pages: {to: Page, many: true, ordered: true, inverse: book}}
                Page:
                  relationships: {book: {to: Book, inverse: pages}}

            """
        try scratch.write("Books.yaml", Array(recipe.utf8))
        try RecipeBuilder.build(recipeFile: scratch.path + "/Books.yaml", at: scratch.location("Books.sqlite"))
        let texts = try ["Books.yaml", "Books.sqlite"]
            .map { name in
                let source = try ModelSource(path: scratch.path + "/" + name)
                return ManagedObjectSource(model: source.model, annotations: source.annotations, origin: "Books").text
            }
        #expect(texts[0] == texts[1] && texts[0].contains("public var pages: [Page] {"))
        for name in ["Nothing", "Nothing.yaml"] {
            #expect(throws: (any Error).self) { try ModelSource(path: scratch.path + "/" + name) }
        }
    }
}
