import ManagedObjects
import StoreAccess
import StoreFormat
import Testing

@Suite("Predicates that do not fit their entity")
struct PredicateErrorTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Owner",
            attributes: [
                AttributeDescription(name: "name", type: .string), AttributeDescription(name: "age", type: .integer16),
                AttributeDescription(name: "born", type: .date), AttributeDescription(name: "id", type: .uuid),
                AttributeDescription(name: "mood", type: .string, isTransient: true),
                AttributeDescription(name: "archive", type: .transformable),
                AttributeDescription(name: "photo", type: .binaryData, allowsExternalBinaryDataStorage: true),
                AttributeDescription(name: "data", type: .binaryData),
            ],
            relationships: [
                RelationshipDescription(name: "boss", destination: "Owner", inverse: "staff"),
                RelationshipDescription(name: "staff", destination: "Owner", inverse: "boss", maxCount: 0),
            ]
        )
    ])

    @Test(
        "An invalid predicate is rejected with its key path and the reason",
        arguments: [
            ("nme == 'x'", "nme", "no property 'nme'"), ("boss.nme == 'x'", "boss.nme", "no property 'nme'"),
            ("name.x == 1", "name.x", "no key can follow"), ("mood == 'x'", "mood", "transient"),
            ("age == 'x'", "age", "a number is expected"), ("age IN {1, 'x'}", "age", "a number is expected"),
            ("name == 5", "name", "a string is expected"), ("name CONTAINS 5", "name", "a string is expected"),
            ("age CONTAINS 'x'", "age", "requires strings"), ("born == 'soon'", "born", "a date is expected"),
            ("id == 'x'", "id", "a UUID is expected"),
            ("id < '0A0B0C0D-0102-0304-0506-0708090A0B0C'", "id", "cannot be ordered"),
            ("archive == 'x'", "", "compared with nil"), ("photo == 'x'", "", "compared with nil"),
            ("data < nil", "data", "cannot be ordered"), ("name == age", "nameage", "cannot be compared"),
            ("staff.name == 'x'", "staff.name", "use ANY, ALL, NONE or @count"),
            ("staff == nil", "staff", "use ANY, ALL, NONE or @count"), ("ANY name == 'x'", "name", "to-many"),
            ("ANY staff.name == staff.name", "staff.name", "on the left"),
            ("boss.@count > 1", "boss.@count", "@count must follow"),
            ("staff.@median.age > 1", "staff.@median.age", "is not allowed here"),
            ("staff.@sum.name > 1", "staff.@sum.name", "cannot be computed from strings"),
            ("staff.@max.boss > 1", "staff.@max.boss", "an attribute must follow"),
            ("staff.@min.id > 1", "staff.@min.id", "cannot be computed from UUIDs"),
            ("SUBQUERY(boss, $x, $x.age > 1).@count > 0", "boss", "needs a path"),
            ("SUBQUERY(staff, $x, $x.nme == 'x').@count > 0", "nme", "no property 'nme'"),
            ("SUBQUERY(staff, $x, $y.age > 1).@count > 0", "", "$y has no value"),
            ("SUBQUERY(staff, $x, $x.age > 1).@count == 'x'", "staff", "a number is expected"),
            ("staff.@count.x > 1", "staff.@count.x", "no key can follow"),
            ("boss == 5", "boss", "an object ID or nil"),
            ("boss < SELF", "boss", "cannot be ordered"), ("boss == name", "bossname", "with an object"),
            ("age BETWEEN 5", "age", "two values"), ("age BETWEEN {1}", "age", "two values"),
            ("age IN 5", "age", "IN must be followed by a collection"), ("5 IN age", "age", "IN must be followed by"),
            ("name MATCHES '('", "name", "not a valid regular expression"),
            ("name MATCHES 'x)|(?:q'", "name", "not a valid regular expression"), ("age == $x", "", "$x has no value"),
            ("entity == 'Dog'", "entity", "no entity 'Dog'"), ("entity == 5", "entity", "its name"),
            ("SELF == 'x'", "", "an object ID or nil"),
        ]
    )
    func errors(format: String, keyPath: String, reason: String) throws {
        let predicate = try FetchPredicate(format: format)
        let error = #expect(throws: FetchError.self) { try predicate.resolved(for: "Owner", in: Self.model) }
        #expect(error?.entity == "Owner")
        #expect(keyPath.isEmpty || error?.keyPath.replacing(".", with: "") == keyPath.replacing(".", with: ""))
        #expect(error?.message.contains(reason) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("'x'") != true || format.contains("$x"))
    }

    @Test("A predicate is rejected for an unknown entity and for a property that is not stored")
    func missing() throws {
        let predicate = try FetchPredicate(format: "name == 'x'")
        #expect(throws: FetchError.self) { try predicate.resolved(for: "Dog", in: Self.model) }
        let layout = StoreLayout(model: Self.model, schema: StoreSchema(tables: []), entityNumbers: EntityNumbers([]))
        let resolved = try predicate.resolved(for: "Owner", in: Self.model)
        #expect(throws: FetchError.self) {
            try PredicateCompiler(layout: layout, storeUUID: "").condition(resolved)
        }
    }
}
