import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification
import StoreWriting
import TestSupport
import Testing

/// Objects as dictionaries: the reference that shares nothing with the migrator.
struct ReferenceObjects {
    struct Key: Hashable {
        var entity: String
        let primaryKey: Int64
    }

    var values: [Key: [String: String]] = [:]
    /// The ordered members of each relationship.
    var members: [Key: [String: [Int64]]] = [:]
}

/// A source model with rows, the target model, and what the rows must be, drawn from a seed.
struct GeneratedMigration {
    var source = model()
    var target = model()
    var sql = ""
    var expected = ReferenceObjects()
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func chance() -> Bool { random.next() % 2 == 0 }
        let (wasOrdered, isOrdered) = (chance(), chance())
        let (renames, removes, defaults, movesUp) = (chance(), chance(), chance(), chance())
        let (manyOwners, renamesEntity, dropsChild, addsFirst) = (chance(), chance(), chance(), chance())
        let (addsBase, leaves, external, tagsOrdered) = (chance(), chance(), chance(), chance())
        let preceding = addsFirst ? [entity("Aaa", [attribute("z")])] : []
        let other = renamesEntity ? "Zoo" : "Box"
        let childLeaves = leaves && !dropsChild && !movesUp
        source = ManagedObjectModel(entities: [
            entity(
                "Item",
                [attribute("name"), attribute("size", .integer16), attribute("data", .binaryData, external: external)],
                [
                    toOne("owner", "Box", inverse: "items"),
                    toMany("tags", "Box", inverse: "tagged", ordered: wasOrdered),
                ]
            ),
            entity("Part", parent: "Item", [attribute("note")], [toOne("link", "Box")]),
            entity(
                "Box",
                [attribute("label", default: .string("-"))],
                [
                    toMany("items", "Item", inverse: "owner", ordered: wasOrdered),
                    toMany("tagged", "Item", inverse: "tags"),
                ]
            ),
        ])
        let note = attribute("note")
        var itemAttributes = [attribute(renames ? "title" : "name", was: renames ? "name" : nil)]
        itemAttributes += removes ? [] : [attribute("size", .integer64)]
        itemAttributes += [attribute("data", .binaryData, external: !external)]
        itemAttributes +=
            defaults
            ? [attribute("count", .integer32, required: true, default: .integer(7))] : [attribute("count", .integer32)]
        itemAttributes += movesUp && !dropsChild ? [note] : []
        let itemRelationships = [
            manyOwners ? toMany("owner", other, inverse: "items") : toOne("owner", other, inverse: "items"),
            toMany("tags", other, inverse: "tagged", ordered: tagsOrdered),
        ]
        let boxAttributes = [attribute("label", required: true, default: .string("-"))]
        let boxRelationships = [
            toMany("items", "Item", inverse: "owner", ordered: isOrdered), toMany("tagged", "Item", inverse: "tags"),
        ]
        var entities = preceding + [entity("Item", itemAttributes, itemRelationships)]
        if !dropsChild {
            entities.append(
                childLeaves
                    ? entity("Part", [note], [toOne("link", other)])
                    : entity("Part", parent: "Item", movesUp ? [] : [note], [toOne("link", other)])
            )
        }
        if addsBase { entities.append(entity("Base", abstract: true)) }
        entities.append(
            entity(
                other,
                was: renamesEntity ? "Box" : nil,
                parent: addsBase ? "Base" : nil,
                boxAttributes,
                boxRelationships
            )
        )
        target = ManagedObjectModel(entities: entities)
        fill(
            &random,
            boxes: other,
            choices: Choices(
                wasOrdered: wasOrdered,
                renames: renames,
                removes: removes,
                defaults: defaults,
                movesUp: movesUp,
                dropsChild: dropsChild,
                childLeaves: childLeaves,
                wasExternal: external,
                isOrdered: isOrdered
            )
        )
    }

    struct Choices {
        let wasOrdered, renames, removes, defaults, movesUp, dropsChild, childLeaves, wasExternal, isOrdered: Bool
    }

    /// Numbers in the source: Box 1, Item 2, Part 3.
    private mutating func fill(_ random: inout SeededGenerator, boxes other: String, choices: Choices) {
        func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
        let boxCount = 1 + number(4)
        for box in 1...boxCount {
            let label = number(3) == 0 ? nil : "l\(number(9))"
            sql +=
                "INSERT INTO ZBOX (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (\(box), 1, 1, \(label.map { "'\($0)'" } ?? "NULL"));\n"
            expected.values[.init(entity: other, primaryKey: Int64(box)), default: [:]]["label"] =
                "text'\(label ?? "-")'"
        }
        let itemCount = number(12)
        for item in 0..<itemCount {
            let (key, isPart) = (Int64(item + 1), number(3) == 0)
            let (name, size) = ("n\(number(50))", number(2) == 0 ? nil : number(1000))
            let data = number(3) == 0 ? nil : "AB\(10 + number(80))"
            let owner = number(4) == 0 ? nil : 1 + number(boxCount)
            let link = isPart && number(2) == 0 ? 1 + number(boxCount) : nil
            let note = isPart ? "p\(number(9))" : nil
            let place = choices.wasOrdered && owner != nil ? 100 - item : nil
            func text(_ value: Int?) -> String { value.map(String.init) ?? "NULL" }
            let stored = data.map { "x'\(choices.wasExternal ? "01" : "")\($0)'" } ?? "NULL"
            sql +=
                "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZSIZE, ZDATA, ZOWNER, ZNOTE, ZLINK"
                + (choices.wasOrdered ? ", Z_FOK_OWNER" : "")
                + ") VALUES (\(key), \(isPart ? 3 : 2), 1, '\(name)', \(text(size)), "
                + "\(stored), \(text(owner)), \(note.map { "'\($0)'" } ?? "NULL"), \(text(link))"
                + (choices.wasOrdered ? ", " + text(place) : "") + ");\n"
            var tags: [Int] = []
            for box in 1...boxCount where number(3) == 0 {
                tags.append(box)
                sql +=
                    "INSERT INTO Z_1TAGGED (Z_1TAGS, Z_2TAGGED" + (choices.wasOrdered ? ", Z_FOK_1TAGS" : "")
                    + ") VALUES (\(box), \(key)" + (choices.wasOrdered ? ", \(box * 10)" : "") + ");\n"
            }
            if isPart, choices.dropsChild { continue }
            expect(key, isPart, name, size, data, owner, link, note, tags, choices, boxes: other)
        }
        sql += "UPDATE Z_PRIMARYKEY SET Z_MAX = \(max(boxCount, itemCount)) WHERE Z_SUPER = 0;\n"
    }

    private mutating func expect(
        _ key: Int64,
        _ isPart: Bool,
        _ name: String,
        _ size: Int?,
        _ data: String?,
        _ owner: Int?,
        _ link: Int?,
        _ note: String?,
        _ tags: [Int],
        _ choices: Choices,
        boxes: String
    ) {
        let object = ReferenceObjects.Key(entity: isPart ? "Part" : "Item", primaryKey: key)
        var values: [String: String] = [:]
        let hasItemProperties = !(isPart && choices.childLeaves)
        if hasItemProperties {
            values[choices.renames ? "title" : "name"] = "text'\(name)'"
            if !choices.removes { values["size"] = size.map { "integer\($0)" } ?? "nullNULL" }
            values["data"] = data.map { "blobX'\(choices.wasExternal ? "" : "01")\($0)'" } ?? "nullNULL"
            values["count"] = choices.defaults ? "integer7" : "nullNULL"
            if choices.movesUp, !choices.dropsChild { values["note"] = note.map { "text'\($0)'" } ?? "nullNULL" }
            expected.members[object, default: [:]]["owner"] = owner.map { [Int64($0)] } ?? []
            if let owner {
                // Places descend with the keys, so an order that is kept is the reverse of a new one.
                let box = ReferenceObjects.Key(entity: boxes, primaryKey: Int64(owner))
                let items = expected.members[box]?["items"] ?? []
                let isReversed = choices.wasOrdered && choices.isOrdered
                expected.members[box, default: [:]]["items"] = isReversed ? [key] + items : items + [key]
            }
            expected.members[object, default: [:]]["tags"] = tags.map(Int64.init)
        }
        if isPart {
            values["note"] = note.map { "text'\($0)'" } ?? "nullNULL"
            expected.members[object, default: [:]]["link"] = link.map { [Int64($0)] } ?? []
        }
        expected.values[object] = values
    }
}

@Suite("Generated pairs of models and stores", .sampled)
struct GeneratedMigrationTests {
    @Test("Every value and member is that of the reference, and the store is sound", arguments: seeds)
    func migrating(_ seed: UInt64) throws {
        let migration = GeneratedMigration(seed: seed)
        let target = MigrationTarget(ModelFile(model: migration.target), path: "")
        try withStore(migration.source, migration.sql, history: seed % 2 == 0) { connection, scratch in
            _ = try ModelMigrator(connection, to: target).migrate()
            let layout = try #require(try StoreLayout(reading: connection))
            #expect(layout.unresolved.isEmpty)
            let content = try StoreContent(connection, layout)
            for (key, values) in migration.expected.values {
                for (name, value) in values {
                    #expect(content.values[key.entity]?[name]?[key.primaryKey] == value, "\(key) \(name), seed \(seed)")
                }
                for (name, members) in migration.expected.members[key] ?? [:] {
                    #expect(
                        (content.links[key.entity]?[name]?[key.primaryKey] ?? []) == members,
                        "\(key) \(name), seed \(seed)"
                    )
                }
            }
            let count = content.values.values.reduce(0) { $0 + ($1["Z_OPT"]?.count ?? 0) }
            #expect(count == migration.expected.values.count)
            try connection.close()
            let report = try StoreVerifier().verify(scratch.location("Store.sqlite"), level: .coredata)
            let findings = report.findings.filter { $0.severity == .error || $0.severity == .warning }
            #expect(findings.isEmpty, "\(findings.map { "\($0.code) \($0.message)" }), seed \(seed)")
        }
    }

    private static let seeds = Seed.several(UInt64(Tier.sized(60, inVerify: 500)))
}
