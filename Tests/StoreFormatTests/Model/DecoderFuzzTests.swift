import StoreAccess
import TestSupport
import Testing

@testable import StoreFormat

/// A trap ends the test process; these tests show that damaged input gives an error or a value.
@Suite("No damaged input makes a decoder trap")
struct DecoderFuzzTests {
    private static let archive = (try? Inflate.inflate(SampleModel.cache, limit: 1 << 20)) ?? []

    private static let xml = Array(
        """
        <?xml version="1.0"?><!DOCTYPE plist><plist version="1.0"><dict><key>a &amp; &#33;</key><array><integer>1</integer>\
        <real>2</real><string>x<![CDATA[y]]></string><true/><date>2001-01-01T00:00:00Z</date><data>AAEC</data></array>\
        <key>b</key><dict><key>CF$UID</key><integer>1</integer></dict></dict></plist>
        """
        .utf8
    )

    @Test("Damaged property lists and model archives never trap", arguments: Seed.several(8))
    func archives(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var decoded = 0
        var refused = 0
        for _ in 0..<600 {
            do {
                let model = try ManagedObjectModel(archive: generator.mutated(Self.archive))
                for name in model.entitiesByName.keys { _ = model.attributes(of: name).count }
                decoded += 1
            } catch {
                #expect(error is UndecodableData)
                refused += 1
            }
        }
        // A test whose inputs all decode, or all fail, would prove nothing.
        #expect(decoded > 10 && refused > 10)
    }

    @Test("Damaged XML property lists and compressed caches never trap", arguments: Seed.several(4))
    func texts(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var decoded = 0
        for _ in 0..<800 {
            if (try? PropertyListReader.value(from: generator.mutated(Self.xml))) != nil { decoded += 1 }
            if (try? ManagedObjectModel(modelCache: generator.mutated(SampleModel.cache))) != nil { decoded += 1 }
        }
        #expect(decoded > 10)
    }

    @Test("Damaged bitmaps and object URIs never trap", arguments: Seed.several(4))
    func bitmaps(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
            let slots = HistorySlots(
                foreignKeys: Array(repeating: "key", count: Int.random(in: 0...9, using: &generator)),
                attributes: (0..<Int.random(in: 0...20, using: &generator)).map { "a\($0)" },
                oneToMany: ["one"],
                manyToMany: Array(repeating: "many", count: Int.random(in: 0...3, using: &generator))
            )
            let bitmap = (0..<Int.random(in: 0...5, using: &generator))
                .map { _ in UInt8.random(in: 0...255, using: &generator) }
            let changed = slots.properties(in: bitmap)
            #expect(changed == nil || bitmap.count == slots.byteCount)
            let all = Set(changed?.names ?? [])
            // A bitmap decodes to the encoded properties, and at most to more of a to-many half.
            #expect(slots.properties(in: slots.bitmap(of: all)).map { all.isSubset(of: $0.names) } ?? false)
            let uri = generator.mutated(Array("x-coredata://E8AF/Gr%C3%B6/p12".utf8))
            if let parsed = try? ObjectURI(String(decoding: uri, as: UTF8.self)) {
                #expect((try? ObjectURI(parsed.description)) == parsed)
            }
        }
    }

    @Test("Layouts of damaged models and tables never trap", arguments: Seed.several(4))
    func layouts(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let names = ["Habit", "Goal", "Streak", "A", "Z", "", "Ümläut", "1"]
        let columns = [
            "Z_PK", "ZTITLE", "ZTITLE1", "Z1_HABIT", "ZHABIT", "Z_FOK_HABIT", "Z_1HABIT", "REFLEXIVE", "", "Z",
        ]
        for _ in 0..<150 {
            let archive = Bool.random(using: &generator) ? Self.archive : generator.mutated(Self.archive)
            let numbers = EntityNumbers(
                (0..<Int.random(in: 0...8, using: &generator))
                    .map { _ in
                        .init(
                            number: [1, 2, 3, 4, 16_001, .max].randomElement(using: &generator) ?? 1,
                            name: names.randomElement(using: &generator) ?? "",
                            parent: [0, 0, 0, 1, 2, 3, .min].randomElement(using: &generator) ?? 0
                        )
                    }
            )
            let tables = (0..<8)
                .map { _ in
                    StoreSchema.Table(
                        name: ["Z", "Z_1", "Z_3", "Z_"].randomElement(using: &generator)
                            .map {
                                $0 + (names.randomElement(using: &generator) ?? "").uppercased()
                            } ?? "",
                        kind: .ordinary,
                        columns: (0..<Int.random(in: 0...4, using: &generator))
                            .map { _ in
                                StoreSchema.Column(
                                    name: columns.randomElement(using: &generator) ?? "",
                                    declaredType: ["INTEGER", "VARCHAR", "x"].randomElement(using: &generator) ?? ""
                                )
                            }
                    )
                }
            let schema = StoreSchema(tables: tables)
            let models = [
                try? ManagedObjectModel(archive: archive), .inferred(from: schema, entityNumbers: numbers),
            ]
            for model in models.compactMap(\.self) {
                let layout = StoreLayout(model: model, schema: schema, entityNumbers: numbers)
                // Every property is either found or reported.
                let reported = Set(layout.unresolved.map(\.entity))
                #expect(model.entitiesByName.keys.filter { layout.entities[$0] == nil && !reported.contains($0) } == [])
            }
        }
    }
}
