import FoundationEssentials
import StoreMigration
import Testing

@testable import store_migrate

@Suite("The reference pages match the program")
struct ReferencePageTests {
    @Test("The table of exit statuses matches the tool's")
    func exitStatuses() throws {
        let rows = try ReferencePage.exitStatusesAndJSON.rows(under: "Exit statuses")
        let listed = rows.map { row in "\(row[0]) \(row[2])" }
        let expected = ExitStatusTable.rows(for: MigrationOutcome.allCases)
            .map { row in
                "\(row.status) \(row.outcomes.map(\.rawValue).joined(separator: ", "))"
            }
        #expect(listed == expected)
        #expect(rows.map { $0[1] } == ExitStatusTable.rows(for: MigrationOutcome.allCases).map(\.meaning))
    }

    @Test("The tables of verbs list exactly the commands of the tool", arguments: [ReferencePage.readme, .commandLine])
    func verbs(_ page: ReferencePage) throws {
        let listed = try page.rows(under: "Verbs")
            .map { row in
                row[0].split(separator: " ").prefix { $0.allSatisfy(\.isLowercase) }.joined(separator: " ")
            }
        let names = CommandTree.names(below: StoreMigrate.self).map { $0.joined(separator: " ") }
        #expect(listed.sorted() == names.sorted())
    }

    @Test(
        "The grammar contains every promised member",
        arguments: [
            (
                "store",
                "path kind uuid journalMode frameworkVersion files entities joinTables history model metadataKeys digest"
            ),
            ("file", "role bytes"), ("entity", "name id parent objects"), ("table", "name rows"),
            ("history", "transactions changes first last"), ("model", "source"), ("plan", "outcome steps"),
            ("finding", "code severity level message entity table key"), ("progress", "phase done total"),
            ("object", "entity uri values"), ("transaction", "number time author process changes"),
            ("author", "name transactions changes first last"), ("pruning", "path transactions changes slowest"),
            ("entityDescription", "name parent attributes relationships"), ("graph", "mermaid"), ("swift", "source"),
            ("error", "code message path advice"), ("side", "path uuid objects digest"),
            ("summary", "command outcome exit findings seconds tx old new next"),
        ]
    )
    func grammar(_ object: String, _ members: String) throws {
        let known = try Grammar().objects[object]?.map(\.name) ?? []
        for member in members.split(separator: " ") { #expect(known.contains(String(member)), "\(object).\(member)") }
    }

    @Test(
        "Every test that the pages of guarantees and of migrations name exists",
        arguments: [(ReferencePage.guarantees, "Guarantees"), (.moveAndMigrate, "What it shows")]
    )
    func guarantees(_ page: ReferencePage, _ heading: String) throws {
        let rows = try page.rows(under: heading)
        #expect(!rows.isEmpty)
        for row in rows {
            for name in row[1].split(separator: ",").map({ String($0).trimmingSpaces })
            where !name.hasPrefix("proofs ") {
                #expect(Self.testFileNames.contains(name), "\(name)")
            }
        }
    }

    private static let testFileNames: Set<String> = {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: Tool.package + "/Tests")) ?? []
        return Set(
            names.filter { $0.hasSuffix(".swift") }.compactMap { $0.split(separator: "/").last?.dropLast(6) }
                .map(String.init)
        )
    }()

    @Test("The README has at most 1,500 words")
    func length() throws {
        #expect(try ReferencePage.readme.text.split(whereSeparator: \.isWhitespace).count <= 1_500)
    }

    @Test("The seven questions are answered on a page that the README links")
    func questions() throws {
        let path = "Sources/StoreMigration/StoreMigration.docc/Questions.md"
        #expect(try Page("README.md").links.contains { $0.target == path })
        let page = try Page(path)
        let questions = page.prose.map(\.text).filter { $0.hasPrefix("## ") && $0.hasSuffix("?") }
        let topics = ["wiped", "move back", "stale", "CloudKit", "app group", "0xdead10cc", "migrate the model"]
        for topic in topics { #expect(questions.contains { $0.contains(topic) }, "\(topic)") }
        #expect(questions.count == topics.count)
    }
}
