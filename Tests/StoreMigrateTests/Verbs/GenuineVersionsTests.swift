import FoundationEssentials
import ModelMigration
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("Genuine stores of several model versions, end to end", .genuineStores, .sampled)
struct GenuineVersionsTests {
    /// When the store that is shared gets its new model version.
    enum Order: String, CaseIterable, Sendable {
        case before
        case inOneRun
        case afterwards
    }

    @Test(
        "A genuine store is migrated and shared; a late write is merged, each common value stays, and verify finds nothing",
        arguments: Tier.sample(GenuinePair.all) { "\($0.source) \($0.isStore)" },
        Order.allCases
    )
    func sharing(_ pair: GenuinePair, _ order: Order) async throws {
        let scratch = try Scratch()
        let genuine = Corpus.location(of: pair.source)
        for name in ["old", "pristine"] { try scratch.copyWritable(genuine.folder, as: name) }
        let old = scratch.path("old/" + genuine.name)
        let new = try scratch.folder("new") + "/" + genuine.name
        let targets = try ScratchFolder()
        let target = try pair.targetPath(in: targets)
        let model = ["--model", target] + (pair.version.map { ["--version", $0] } ?? [])
        let oddities = try await findings(old)
        guard let values = try CommonValues(pair, to: target, of: scratch.path("pristine/" + genuine.name)) else {
            let before = try scratch.fingerprint()
            let refused = try await Tool.run(["migrate", old] + model)
            #expect(refused.status == 13 && refused.errorLines.count == 1, "\(refused.output)\(refused.errors)")
            #expect(try scratch.fingerprint() == before)
            return
        }

        let share = ["share", old, new, "--old", "capture", "--level", "content"]
        let first = order == .inOneRun ? share + ["--migrate"] + model : share
        if order == .before { try await expectSuccess(["migrate", old] + model, "Migrated") }
        try await expectSuccess(first, "Shared")
        if order == .afterwards { try await expectSuccess(["migrate", new] + model, "Migrated") }
        let write = try await values.writeLate(to: old, isMigrated: order == .before)
        try await expectSuccess(first, write == nil ? "Already shared" : "Merged")

        #expect(write != nil, "nothing was written")
        try await values.compare(with: new, except: write)
        let found = try await findings(new)
        #expect(found.subtracting(oddities).isEmpty, "\(found)")
        try await expectSuccess(first, "Already shared")
        try await expectSuccess(["migrate", new] + model, "Migrated: the store already has this model version")
    }

    private func expectSuccess(_ words: [String], _ beginning: String) async throws {
        let run = try await Tool.run(words)
        #expect(
            run.status == 0 && run.output.hasPrefix(beginning),
            "\(words.prefix(1)) \(run.status): \(run.output)\(run.errors)"
        )
    }

    /// The codes of what `verify` finds in a store; empty for a sound one.
    private func findings(_ store: String) async throws -> Set<String> {
        let run = try await Tool.run(["verify", store, "--json"])
        let codes = try Grammar().check(run).compactMap { $0["code"]?.string }
        #expect(run.status == 0 || run.status == 3 && !codes.isEmpty, "\(run.errors)")
        return Set(codes)
    }
}

/// The attributes that a store has before and after a migration, with the tables and columns of both versions.
private struct CommonValues {
    /// A changed value: of an object in a table of the new version, in one of the selected columns.
    struct Write {
        let table: Int
        let key: String
        let column: Int
        let value: String
    }

    /// The rows of one entity in both versions; the columns correspond.
    private struct Rows {
        let isWritable: [Bool]
        let former: (table: String, condition: String, columns: [String])
        let current: (table: String, condition: String, columns: [String])
    }

    private let pristine: String
    private let tables: [Rows]

    /// Returns nil if no mapping can be inferred.
    init?(_ pair: GenuinePair, to path: String, of pristine: String) throws {
        self.pristine = pristine
        let target = try MigrationTarget(path: path, version: pair.version)
        let scratch = try ScratchFolder()
        let connection = try StoreConnection(Corpus.copy(pair.source, into: scratch), access: .privateCopy)
        let migrator: ModelMigrator
        do {
            migrator = try ModelMigrator(connection, to: target)
        } catch is MappingRefusals {
            return nil
        }
        let former = try #require(try StoreLayout(reading: connection, model: migrator.mapping.source))
        _ = try migrator.migrate()
        let current = try #require(try StoreLayout(reading: connection))
        try connection.close()
        tables = try migrator.mapping.entities.compactMap { entity in
            guard let source = entity.source.flatMap({ former.entities[$0] }), !source.isAbstract else { return nil }
            let stored = try #require(current.entities[entity.target])
            // Rows get a default where a value is missing that is mandatory now.
            let pairs = entity.attributes.filter { pair in
                pair.source.map { $0.isOptional == pair.target.isOptional } ?? false && !pair.target.isDerived
                    && !pair.target.isTransient
            }
            let constrained = Set(
                migrator.mapping.target.lineage(of: entity.target).flatMap(\.uniquenessConstraints).joined()
            )
            return Rows(
                isWritable: pairs.map {
                    [.string, .integer16, .integer32, .integer64, .date, .double].contains($0.target.type)
                        && !constrained.contains($0.target.name)
                },
                former: (
                    source.table, Self.condition(source, former),
                    try pairs.map { try #require(source.attribute($0.source?.name ?? "")?.column) }
                ),
                current: (
                    stored.table, Self.condition(stored, current),
                    try pairs.map { try #require(stored.attribute($0.target.name)?.column) }
                )
            )
        }
    }

    private static func condition(_ entity: StoreLayout.Entity, _ layout: StoreLayout) -> String {
        layout.entities(inTable: entity.table).count == 1 ? "1" : "Z_ENT = \(entity.number)"
    }

    /// Changes one value of one object, as a program of the store's version would; nil without objects.
    func writeLate(to store: String, isMigrated: Bool) async throws -> Write? {
        for (index, rows) in tables.enumerated() {
            guard let column = rows.isWritable.firstIndex(of: true) else { continue }
            let place = isMigrated ? rows.current : rows.former
            let key =
                try await SQLiteProgram.run(
                    store,
                    "SELECT min(Z_PK) FROM \(SQLName.quoted(place.table)) WHERE \(place.condition)"
                )
                .filter { $0 != "\n" }
            guard !key.isEmpty else { continue }
            try await SQLiteProgram.run(
                store,
                "UPDATE \(SQLName.quoted(place.table)) SET \(SQLName.quoted(place.columns[column])) = 4711, "
                    + "Z_OPT = Z_OPT + 1 WHERE Z_PK = \(key)"
            )
            let written = try await Self.rows(place, of: store).first { $0.first == key }
            return Write(table: index, key: key, column: column, value: try #require(written)[column + 1])
        }
        return nil
    }

    /// Compares each value of a store of the new version with the untouched one, by plain SQL.
    func compare(with store: String, except write: Write?) async throws {
        for (index, rows) in tables.enumerated() {
            var expected = try await Self.rows(rows.former, of: pristine)
            if let write, write.table == index {
                let row = try #require(expected.firstIndex { $0.first == write.key })
                expected[row][write.column + 1] = write.value
            }
            let found = try await Self.rows(rows.current, of: store)
            #expect(found == expected, "\(rows.current.table)")
        }
    }

    private static func rows(
        _ place: (table: String, condition: String, columns: [String]),
        of store: String
    ) async throws -> [[String]] {
        let values = ["Z_PK"] + place.columns.map { "hex(quote(\(SQLName.quoted($0))))" }
        let sql =
            "SELECT \(values.joined(separator: ", ")) FROM \(SQLName.quoted(place.table)) WHERE \(place.condition) ORDER BY Z_PK"
        return try await SQLiteProgram.run(store, sql).split(separator: "\n")
            .map { $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init) }
    }
}
