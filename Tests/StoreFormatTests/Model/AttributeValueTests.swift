import Foundation
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("Values of attributes")
struct AttributeValueTests {
    private typealias AttributeType = AttributeDescription.AttributeType

    private static let identifier = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private static func attribute(_ type: AttributeType, isExternal: Bool = false) -> AttributeDescription {
        AttributeDescription(name: "value", type: type, allowsExternalBinaryDataStorage: isExternal)
    }

    @Test(
        "A value is printed as a person reads it",
        arguments: [
            (.null, "nil"), (true, "true"), (7, "7"), (2.5, "2.5"), ("Evening run", "Evening run"),
            (.decimal(Decimal(string: "1.10") ?? 0), "1.1"), (.uri("x:y"), "x:y"),
            (.date(Date(timeIntervalSinceReferenceDate: 0)), "2001-01-01 00:00:00 +0000"),
            (.data(Data([1, 2, 3])), "3 bytes"), (.uuid(identifier), "01020304-0506-0708-090A-0B0C0D0E0F10"),
            (.externalData(.init(fileName: "A")), "external file A"),
        ] as [(AttributeValue, String)]
    )
    func printed(_ value: AttributeValue, _ expected: String) { #expect("\(value)" == expected) }

    @Test(
        "A date at the end of the calendar or outside it is printed",
        arguments: [.nan, .infinity, 1e300, -1e300, 1e15, -63_113_904_000, 252_423_993_599] as [Double]
    )
    func printedDate(_ seconds: Double) {
        #expect(!"\(AttributeValue.date(Date(timeIntervalSinceReferenceDate: seconds)))".isEmpty)
    }

    /// A stored value, its type, and the expected decoded value.
    private static let readings: [(SQLValue, AttributeType, AttributeValue?)] = [
        (.integer(7), .integer16, 7), (.real(7), .integer64, 7), (.real(7.5), .integer64, nil),
        (.text("7"), .integer32, nil), (.integer(1), .boolean, true), (.integer(0), .boolean, false),
        (.integer(2), .boolean, true), (.integer(3), .double, 3.0), (.real(2.5), .float, 2.5),
        (.integer(19), .decimal, .decimal(19)),
        (.real(3.3333333332999993), .decimal, Decimal(string: "3.3333333332999993").map(AttributeValue.decimal)),
        (.text("NaN"), .decimal, .decimal(.nan)), (.text("nan"), .decimal, nil), (.real(1e300), .decimal, nil),
        (.real(.infinity), .decimal, nil), (.text("é"), .string, "é"), (.integer(1), .string, nil),
        (.integer(86_400), .date, .date(Date(timeIntervalSinceReferenceDate: 86_400))),
        (.real(-0.5), .date, .date(Date(timeIntervalSinceReferenceDate: -0.5))),
        (.text("2001-01-01"), .date, nil), (.blob([1, 2]), .binaryData, .data(Data([1, 2]))),
        (.blob([2]), .transformable, .data(Data([2]))), (.text("a"), .binaryData, nil),
        (.blob([UInt8](1...16)), .uuid, .uuid(identifier)), (.blob([1]), .uuid, nil),
        (.text("http://a/%20"), .uri, .uri("http://a/%20")), (.text("a"), .undefined, "a"),
    ]

    @Test("A stored value decodes to its attribute's type, or to nil")
    func reading() {
        for (stored, type, expected) in Self.readings {
            #expect(AttributeValue(stored, as: type) == expected, "\(stored) as \(type)")
        }
        for type in AttributeType.allCases { #expect(AttributeValue(.null, as: type) == .null) }
    }

    @Test("A decoded value encodes to the same stored value")
    func writing() throws {
        for (stored, type, expected) in Self.readings {
            guard let expected else { continue }
            let again = try #require(expected.stored(for: Self.attribute(type)), "\(stored) as \(type)")
            #expect(AttributeValue(again, as: type) == expected, "\(stored) as \(type)")
            if case .text = stored { #expect(again == stored) }
            if case .blob = stored { #expect(again == stored) }
        }
        #expect(AttributeValue.real(.nan).stored(for: Self.attribute(.double)) == .null)
        #expect(AttributeValue.decimal(5).stored(for: Self.attribute(.decimal)) == .integer(5))
        #expect(AttributeValue.decimal(Decimal(string: "0.1") ?? 0).stored(for: Self.attribute(.decimal)) == .real(0.1))
        #expect(
            AttributeValue.decimal(Decimal(string: "1e30") ?? 0).stored(for: Self.attribute(.decimal)) == .real(1e30)
        )
    }

    @Test("A value with external storage is read from its row or refers to a file")
    func externalStorage() {
        let attribute = Self.attribute(.binaryData, isExternal: true)
        let name = "0A0B0C0D-0102-0304-0506-0708090A0B0C"
        let reference = AttributeValue.externalData(.init(fileName: name))
        #expect(AttributeValue(.blob([1, 2, 3]), of: attribute) == .data(Data([2, 3])))
        #expect(AttributeValue(.blob([1]), of: attribute) == .data(Data()))
        #expect(AttributeValue(.blob([2] + name.utf8 + [0]), of: attribute) == reference)
        #expect(AttributeValue(.null, of: attribute) == .null)
        for damaged: [UInt8] in [[], [3, 1], [2], [2] + name.utf8, [2] + [UInt8](repeating: 47, count: 36) + [0]] {
            #expect(AttributeValue(.blob(damaged), of: attribute) == nil)
        }
        #expect(AttributeValue.data(Data([2, 3])).stored(for: attribute) == .blob([1, 2, 3]))
        #expect(reference.stored(for: attribute) == .blob([2] + name.utf8 + [0]))
        #expect(reference.stored(for: Self.attribute(.binaryData)) == nil)
    }

    @Test("A value converts to another kind only without loss")
    func conversion() {
        let cases: [(AttributeValue, AttributeType, AttributeValue?)] = [
            (40_000, .integer16, nil), (40_000, .integer32, 40_000), (1_099_511_627_776, .integer32, nil),
            (2.0, .integer16, 2),
            (2.5, .integer16, nil), (true, .integer16, 1), (1, .boolean, true), (0, .boolean, false),
            (2, .boolean, nil), (3, .double, 3.0), (0.1, .float, .real(Double(Float(0.1)))), ("3", .integer16, nil),
            (3, .decimal, .decimal(3)), (.decimal(3), .integer64, 3), (.decimal(.nan), .integer64, nil),
            ("a", .uri, .uri("a")), (.uri("a"), .string, nil), (3, .string, nil), (3, .date, nil), (nil, .date, nil),
        ]
        for (value, type, expected) in cases {
            let expected = value.isNull ? AttributeValue.null : expected
            #expect(value.converted(to: type) == expected, "\(value) to \(type)")
        }
    }

    @Test("Values of genuine stores decode and encode unchanged", .genuineStores, arguments: Corpus.stores)
    func corpus(store: String) throws {
        let scratch = try ScratchFolder()
        let connection = try StoreConnection(Corpus.copy(store, into: scratch), access: .privateCopy)
        let numbers = try #require(try EntityNumbers(reading: connection))
        let schema = try StoreSchema(reading: connection)
        guard schema.table(named: "Z_MODELCACHE") != nil,
            let cache = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob
        else { return }
        let layout = StoreLayout(
            model: try ManagedObjectModel(modelCache: cache),
            schema: schema,
            entityNumbers: numbers
        )
        for entity in layout.entities.values {
            for attribute in entity.attributes {
                let sql = """
                    SELECT \(SQLName.quoted(attribute.column)) FROM \(SQLName.quoted(entity.table)) \
                    WHERE Z_ENT = ? AND \(SQLName.quoted(attribute.column)) IS NOT NULL LIMIT 200
                    """
                try connection.forEachRow(sql, [.integer(entity.number)]) { row in
                    let stored = row.value(0)
                    let place = Comment(rawValue: "\(entity.name).\(attribute.description.name)")
                    let value = try #require(AttributeValue(stored, of: attribute.description), place)
                    let again = try #require(value.stored(for: attribute.description), place)
                    if let number = stored.number {
                        #expect(again.number == number, place)
                    } else {
                        #expect(again == stored, place)
                    }
                }
            }
        }
    }

    @Test("Attribute values with canonically equivalent texts differ")
    func attributes() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(AttributeValue.string(composed) != .string(decomposed))
        #expect(AttributeValue.uri(composed) != .uri(decomposed))
        #expect(Set([AttributeValue.string(composed), .string(decomposed)]).count == 2)
        #expect(AttributeValue.string("a") == .string("a") && AttributeValue.string("a") != .uri("a"))
        #expect(AttributeValue.date(Date(timeIntervalSinceReferenceDate: 1)) != .real(1))
        let same: [AttributeValue] = [.null, .boolean(true), .integer(1), .real(1), .decimal(1), .data(Data([1]))]
        #expect(Set(same + same).count == same.count)
    }
}
