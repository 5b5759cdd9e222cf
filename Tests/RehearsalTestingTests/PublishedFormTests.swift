import FoundationEssentials
import RehearsalTesting
import StoreFixtures
import Testing
import UpgradeRehearsal

/// Uses only public interface, as a package that depends on this one does.
@Suite("Rehearsals in another package")
struct PublishedFormTests {
    private static let folder = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined()

    @Test("The test in Fixtures/Scenarios/README.md equals the one beside this file")
    func printed() throws {
        let readme = try String(
            contentsOf: URL(filePath: Self.folder + "/../../Fixtures/Scenarios/README.md"),
            encoding: .utf8
        )
        let test = try String(contentsOf: URL(filePath: Self.folder + "/UpgradeTests.swift"), encoding: .utf8)
        #expect(readme.contains("```swift\n\(test)```\n"))
    }

    @Test("The scenario beside this file equals what --new writes")
    func template() throws {
        let text = try String(contentsOf: URL(filePath: Self.folder + "/Scenarios/upgrade.yaml"), encoding: .utf8)
        #expect(text == ScenarioTemplate.text(storeName: "Model.sqlite"))
    }

    @Test("A scenario for a store whose name has a quote with a combining mark reads back")
    func quotedName() throws {
        let name = "it'\u{301}s.sqlite"
        #expect(throws: Never.self) { try Scenario(yaml: ScenarioTemplate.text(storeName: name), name: "quoted") }
    }

    @Test("A failed claim is an issue at the test's line")
    func issues() throws {
        let scenario = try Scenario(
            yaml: """
                about: It does not hold.
                stores: {old: {at: old.sqlite}}
                steps: [{inspect: [old]}]
                holds: [{absent: old.sqlite}]
                """,
            name: "wrong"
        )
        try withKnownIssue {
            try scenario.rehearseAndRecord()
        } matching: { issue in
            issue.comments.contains {
                "\($0)".contains("wrong:3:10: inspect old: expected status 0, found outcome noth")
            }
        }
    }

    @Test("A test's store exists until the test's body returns")
    func store() async throws {
        var path = ""
        let size = try withStore("../../Fixtures/Stores/clean/recipe.yaml", named: "X.sqlite") { url in
            path = url.path
            return try Data(contentsOf: url).count
        }
        #expect(size > 0 && path.hasSuffix("/X.sqlite") && !FileManager.default.fileExists(atPath: path))
        #expect(throws: CancellationError.self) {
            try withStore("seed: x\nsql: [CREATE TABLE t (x)]\n") { url in
                path = url.path
                #expect(FileManager.default.fileExists(atPath: path))
                throw CancellationError()
            }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        let isThere = try await withStore("seed: x\nsql: [CREATE TABLE t (x)]\n") { url in
            await Task.yield()
            return FileManager.default.fileExists(atPath: url.path)
        }
        #expect(isThere)
        #expect(throws: RecipeError.self) { try withStore("seed: x\n") { _ in } }
    }
}
