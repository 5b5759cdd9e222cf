import ChangeMerging
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

/// A plain SQLite writer changes a store that keeps history, and writes no history.
@Suite("Changes that the history lacks are merged")
struct UnrecordedChangesTests {
    private static func toMany(
        _ name: String,
        _ destination: String,
        _ inverse: String,
        isOrdered: Bool = false
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name,
            destination: destination,
            inverse: inverse,
            maxCount: 0,
            isOrdered: isOrdered
        )
    }

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Note",
            attributes: [AttributeDescription(name: "title", type: .string)],
            relationships: [toMany("tags", "Tag", "notes"), toMany("pictures", "Picture", "notes", isOrdered: true)]
        ),
        EntityDescription(name: "Picture", relationships: [toMany("notes", "Note", "pictures")]),
        EntityDescription(name: "Tag", relationships: [toMany("notes", "Note", "tags")]),
    ])

    /// A base with a note that has a tag and two pictures, another note, and another tag.
    private static func triple() throws -> MergeTriple {
        try MergeTriple(model) { store in
            let note = try store.insert("Note", ["title": .text("a")])
            try store.insert("Note", ["title": .text("b")])
            let tags = try (0..<2).map { _ in try store.insert("Tag") }
            let pictures = try (0..<2).map { _ in try store.insert("Picture") }
            try store.save { writer in
                try writer.connect(note, "tags", to: tags[0])
                for picture in pictures { try writer.connect(note, "pictures", to: picture) }
            }
        }
    }

    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What the plain writer executes.
        let sql: String
        /// A query of the merged store, and its result.
        let query: String
        let result: String

        init(_ name: String, _ sql: String, _ query: String, _ result: String) {
            testDescription = name
            self.sql = sql
            self.query = query
            self.result = result
        }
    }

    private static let titles = "SELECT group_concat(ZTITLE) FROM (SELECT ZTITLE FROM ZNOTE ORDER BY Z_PK)"
    private static let tags = "SELECT ifnull(group_concat(Z_3TAGS), '') FROM (SELECT Z_3TAGS FROM Z_1TAGS ORDER BY 1)"

    static let changes = [
        Change("a new object", "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (3, 1, 1, 'c')", titles, "a,b,c"),
        Change("a deleted object", "DELETE FROM ZNOTE WHERE Z_PK = 2", titles, "a"),
        Change("a changed attribute", "UPDATE ZNOTE SET ZTITLE = 'c' WHERE Z_PK = 2", titles, "a,c"),
        Change("a new pair", "INSERT INTO Z_1TAGS (Z_1NOTES1, Z_3TAGS) VALUES (1, 2)", tags, "1,2"),
        Change("a removed pair", "DELETE FROM Z_1TAGS", tags, ""),
        Change(
            "another order",
            "UPDATE Z_1PICTURES SET Z_FOK_2PICTURES = 9999 WHERE Z_2PICTURES = 1",
            "SELECT group_concat(p) FROM (SELECT Z_2PICTURES p FROM Z_1PICTURES ORDER BY Z_FOK_2PICTURES)",
            "2,1"
        ),
    ]

    @Test("A change of one kind alone is merged", arguments: changes)
    func alone(_ change: Change) throws {
        let triple = try Self.triple()
        try triple.store("old").connection.execute(change.sql)
        #expect(try triple.merge().result.outcome == .merged)
        #expect(try triple.store("shared").connection.value(change.query) == .text(change.result))
    }

    @Test("Changes of both stores to one attribute are a conflict")
    func conflict() throws {
        let triple = try Self.triple()
        for name in ["old", "shared"] {
            try triple.store(name).connection.execute("UPDATE ZNOTE SET ZTITLE = '\(name)' WHERE Z_PK = 1")
        }
        let (plan, _) = try triple.merge()
        #expect(plan.conflicts.map(\.property) == ["title"])
        #expect(try triple.store("shared").connection.value(Self.titles) == .text("shared,b"))
    }
}
