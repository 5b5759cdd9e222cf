import ModelMigration
import SafeFiles
import TestSupport
import Testing

@Suite("The page of inferable changes")
struct InferableChangesPageTests {
    /// The cells of each row whose first one is code.
    private static func rows() throws -> [[String]] {
        let folder = try Directory.open(path: Checkout.path + "/Sources/ModelMigration/ModelMigration.docc")
        let text = String(decoding: try folder.contents(of: "InferableChanges.md", limit: 1 << 20), as: UTF8.self)
        return text.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .map { row in
                row.split(separator: "|")
                    .map { cell in
                        let words = cell.split(separator: " ")
                        return words.joined(separator: " ").filter { $0 != "`" }
                    }
            }
    }

    @Test("The page lists each change and each refusal once, with Core Data's error")
    func page() throws {
        let rows = try Self.rows()
        let changes = MappingChange.Kind.allCases.map(\.rawValue)
        let rules = MappingRefusal.Rule.allCases
        #expect(rows.map { $0[0] } == changes + rules.map(\.rawValue))
        let codes = rules.map { $0.coreDataErrorCode.map(String.init) ?? "none" }
        #expect(rows.suffix(rules.count).map { $0[1] } == codes)
    }

    @Test("The test that the page names for a change or refusal exists, and shows it")
    func tests() throws {
        let changes = InferredMappingTests.inferable.map { ($0.name, $0.changes) }
        let refusals =
            InferredMappingTests.refused.map { ($0.name, $0.refusals) }
            + MigrationRefusalTests.cases.map { ($0.name, $0.refusals) }
        let folder = try Directory.open(path: Checkout.path + "/Tests/ModelMigrationTests")
        let other = String(decoding: try folder.contents(of: "ModelMigratorTests.swift", limit: 1 << 20), as: UTF8.self)
        for row in try Self.rows() {
            let name = try #require(row.last)
            let shown = (changes + refusals).filter { $0.0 == name }.flatMap(\.1).map { $0.prefix { $0 != " " } }
            #expect(shown.contains { $0 == row[0] } || other.contains("@Test(\"\(name)\")"), "\(row[0]): \(name)")
        }
    }

    @Test("Each change that the mapping can have has a case of a rule")
    func coverage() throws {
        let kinds = InferredMappingTests.inferable.flatMap(\.changes).map { String($0.prefix { $0 != " " }) }
        #expect(Set(kinds) == Set(MappingChange.Kind.allCases.map(\.rawValue)))
    }
}
