import StoreAccess
import TestSupport
import Testing

@testable import StoreFormat

@Suite("Finding the layout of a store")
struct StoreLayoutTests {
    @Test("Every genuine store has a layout without unresolved parts", .genuineStores, arguments: Corpus.stores)
    func corpus(store: String) throws {
        let scratch = try ScratchFolder()
        let connection = try StoreConnection(Corpus.copy(store, into: scratch), access: .privateCopy)
        let numbers = try #require(try EntityNumbers(reading: connection))
        let schema = try StoreSchema(reading: connection)
        let cache =
            schema.table(named: "Z_MODELCACHE") == nil
            ? nil : try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob
        let model =
            try cache.map(ManagedObjectModel.init(modelCache:))
            ?? .inferred(from: schema, entityNumbers: numbers)
        let layout = StoreLayout(model: model, schema: schema, entityNumbers: numbers)
        #expect(layout.unresolved == [])
        #expect(Set(layout.entities.keys) == Set(model.entitiesByName.keys))
        #expect(Set(layout.entities.values.map(\.number)) == Set(numbers.modelEntries.map(\.number)))

        for entity in layout.entities.values {
            let table = try #require(schema.table(named: entity.table))
            #expect(
                Set(entity.attributes.map(\.description))
                    == Set(model.attributes(of: entity.name).filter { !$0.isTransient })
            )
            #expect(Set(entity.relationships.map(\.description)) == Set(model.relationships(of: entity.name)))
            for attribute in entity.attributes { #expect(table.column(named: attribute.column) != nil) }
        }
        // Every column of an entity table belongs to a property, and every join table to a relationship.
        for table in schema.tables {
            let entities = layout.entities(inTable: table.name)
            if entities.isEmpty {
                if table.name.hasPrefix("Z_"), table.name.dropFirst(2).first?.isNumber == true {
                    #expect(layout.joinTables.contains { $0.name == table.name })
                }
                continue
            }
            var known: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
            for entity in entities { known.formUnion(entity.attributes.map(\.column)) }
            for relationship in layout.entities.values.flatMap(\.relationships) {
                switch relationship.storage {
                case .toOne(let key), .oneToMany(_, let key):
                    known.formUnion([key.column, key.entityColumn, key.orderColumn].compactMap(\.self))
                case .manyToMany: break
                }
            }
            if cache != nil { #expect(table.columns.map(\.name).filter { !known.contains($0) } == []) }
        }
        if let history = PersistentHistory(schema: schema) {
            try history.forEachChange(reading: connection) { change in
                let entity = change.entity.flatMap(layout.entity(numbered:))
                #expect(entity != nil)
                if change.kind == .update { #expect(change.properties(in: layout) != nil) }
            }
        }
    }
}

extension StoreLayoutTests {
    private static func table(_ name: String, _ columns: [(String, String)]) -> StoreSchema.Table {
        let fixed = name.hasPrefix("Z_") ? [] : [("Z_PK", "INTEGER"), ("Z_ENT", "INTEGER"), ("Z_OPT", "INTEGER")]
        return StoreSchema.Table(
            name: name,
            kind: .ordinary,
            columns: (fixed + columns).map { StoreSchema.Column(name: $0.0, declaredType: $0.1) }
        )
    }

    private static func relationship(
        _ name: String,
        _ destination: String,
        _ inverse: String?,
        isToMany: Bool = false,
        isOrdered: Bool = false
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name,
            destination: destination,
            inverse: inverse,
            maxCount: isToMany ? 0 : 1,
            isOrdered: isOrdered
        )
    }

    /// An inheritance with colliding names, and every kind of relationship.
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Item",
            attributes: [AttributeDescription(name: "title", type: .string)],
            relationships: [
                relationship("shelf", "Shelf", "items"),
                relationship("tags", "Tag", "items", isToMany: true),
                relationship("similar", "Item", "similar", isToMany: true),
            ]
        ),
        EntityDescription(
            name: "Book",
            superentity: "Item",
            attributes: [AttributeDescription(name: "size", type: .integer64)],
            relationships: [relationship("pages", "Page", nil, isToMany: true)]
        ),
        EntityDescription(
            name: "Disc",
            superentity: "Item",
            attributes: [
                AttributeDescription(name: "size", type: .double),
                AttributeDescription(name: "cache", type: .undefined, isTransient: true),
            ]
        ),
        EntityDescription(name: "Page", relationships: [relationship("cover", "Item", nil)]),
        EntityDescription(
            name: "Shelf",
            relationships: [relationship("items", "Item", "shelf", isToMany: true, isOrdered: true)]
        ),
        EntityDescription(
            name: "Tag",
            relationships: [relationship("items", "Item", "tags", isToMany: true, isOrdered: true)]
        ),
    ])

    private static let numbers = EntityNumbers([
        .init(number: 1, name: "Item"), .init(number: 2, name: "Book", parent: 1),
        .init(number: 3, name: "Disc", parent: 1), .init(number: 4, name: "Page"), .init(number: 5, name: "Shelf"),
        .init(number: 6, name: "Tag"),
    ])

    private static let item: [(String, String)] = [
        ("zsize1", "FLOAT"), ("ZSIZE", "INTEGER"), ("ZSHELF", "INTEGER"), ("Z_FOK_SHELF", "INTEGER"),
        ("ZTITLE", "VARCHAR"),
    ]

    private static let tables = [
        table("ZITEM", item),
        table("ZPAGE", [("ZCOVER", "INTEGER"), ("Z1_COVER", "INTEGER"), ("Z2PAGES", "INTEGER")]),
        table("ZSHELF", []), table("ZTAG", []),
        table("Z_6ITEMS", [("Z_1ITEMS1", "INTEGER"), ("Z_6TAGS", "INTEGER"), ("Z_FOK_1ITEMS1", "INTEGER")]),
        table("Z_1SIMILAR", [("Z_1SIMILAR", "INTEGER"), ("REFLEXIVE", "INTEGER")]),
    ]

    private static func layout(_ tables: [StoreSchema.Table]) -> StoreLayout {
        StoreLayout(model: model, schema: StoreSchema(tables: tables), entityNumbers: numbers)
    }

    @Test("Colliding names, inheritance and every kind of relationship are resolved")
    func everything() throws {
        let layout = Self.layout(Self.tables)
        #expect(layout.unresolved == [])
        let book = try #require(layout.entities["Book"])
        let disc = try #require(layout.entity(numbered: 3))
        #expect(book.table == "ZITEM")
        #expect(book.root == "Item")
        #expect(book.attributes.map(\.column) == ["ZTITLE", "ZSIZE"])
        #expect(disc.attributes.map(\.column) == ["ZTITLE", "zsize1"])
        #expect(layout.entities(inTable: "zitem").map(\.name) == ["Item", "Book", "Disc"])
        #expect(
            book.relationship("shelf")?.storage
                == .toOne(.init(column: "ZSHELF", entityColumn: nil, orderColumn: "Z_FOK_SHELF"))
        )
        #expect(
            layout.entities["Shelf"]?.relationship("items")?.storage
                == .oneToMany(
                    table: "ZITEM",
                    .init(column: "ZSHELF", entityColumn: nil, orderColumn: "Z_FOK_SHELF")
                )
        )
        #expect(
            layout.entities["Page"]?.relationship("cover")?.storage
                == .toOne(.init(column: "ZCOVER", entityColumn: "Z1_COVER", orderColumn: nil))
        )
        #expect(
            book.relationship("pages")?.storage
                == .oneToMany(table: "ZPAGE", .init(column: "Z2PAGES", entityColumn: nil, orderColumn: nil))
        )
        let items = StoreLayout.JoinTable.Side(
            entity: "Tag",
            relationship: "items",
            column: "Z_6TAGS",
            orderColumn: "Z_FOK_1ITEMS1"
        )
        let tags = StoreLayout.JoinTable.Side(
            entity: "Item",
            relationship: "tags",
            column: "Z_1ITEMS1",
            orderColumn: nil
        )
        #expect(book.relationship("tags")?.storage == .manyToMany(table: "Z_6ITEMS", owner: tags, other: items))
        #expect(
            layout.entities["Tag"]?.relationship("items")?.storage
                == .manyToMany(table: "Z_6ITEMS", owner: items, other: tags)
        )
        #expect(layout.joinTables.first { $0.name == "Z_1SIMILAR" }?.isReflexive == true)
        #expect(layout.joinTables.count == 2)

        #expect(
            book.historySlots.slots == [
                .property("shelf"), .property("shelf"), .property("title"), .property("size"), .oneToMany,
                .manyToMany, .manyToMany,
            ]
        )
        #expect(
            layout.entities["Page"]?.historySlots.slots == [.hidden, .property("cover"), .property("cover")]
        )
    }

    @Test("Missing tables and columns are reported as unresolved")
    func missing() {
        let tables = [
            Self.table("ZITEM", Self.item.filter { $0.0 != "ZTITLE" && $0.0 != "Z_FOK_SHELF" } + [("ZTITLE", "BLOB")]),
            Self.table("ZPAGE", [("ZCOVER", "INTEGER")]),
            Self.table("ZTAG", []), Self.table("Z_1SIMILAR", [("Z_1SIMILAR", "INTEGER")]),
            Self.table("Z_6ITEMS", [("Z_1OTHERS", "INTEGER"), ("Z_6TAGS", "INTEGER")]),
        ]
        let unresolved = Self.layout(tables).unresolved.map { $0.entity + "." + ($0.property ?? "") }
        #expect(
            Set(unresolved) == [
                "Item.title", "Item.shelf", "Page.cover", "Page.2pages", "Shelf.", "Item.tags", "Tag.items",
                "Item.similar",
            ]
        )
        #expect(Self.layout([]).entities.isEmpty)
        // Without a column the bits of history are unknown.
        #expect(Self.layout(tables).entities["Book"]?.historySlots.byteCount == nil)
        #expect(Self.layout(tables).entities["Tag"]?.historySlots.byteCount == 1)
    }
}
