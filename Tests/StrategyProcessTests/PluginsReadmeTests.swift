import FoundationEssentials
import StoreStrategies
import Testing

@testable import StrategyProcess

@Suite("What Plugins/README.md says")
struct PluginsReadmeTests {
    private static let folder =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Plugins/"

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: URL(filePath: folder + name), encoding: .utf8)
    }

    /// The fenced blocks, by what is written behind the language.
    private static func blocks() throws -> [String: String] {
        var result: [String: String] = [:]
        var name: String?
        for line in try text("README.md").split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```" {
                name = nil
            } else if line.hasPrefix("```") {
                name = line.split { $0 == " " || $0 == "`" }.last.map(String.init)
            } else if let name {
                result[name, default: ""] += line + "\n"
            }
        }
        return result
    }

    @Test("It says first what it is about")
    func firstLine() throws {
        #expect(try Self.text("README.md").hasPrefix("# Strategy plugins, not SwiftPM plugins\n"))
    }

    @Test(
        "Its examples are the plugins that other tests run",
        arguments: [
            "PatientTimeout/PatientTimeoutStrategy.swift", "PatientTimeout/main.swift",
            "ExcludedFromBackup/store-migrate-strategy-ExcludedFromBackup",
        ]
    )
    func examples(_ name: String) throws { #expect(try Self.blocks()[name] == Self.text(name)) }

    @Test("Its request is one, and its one-line test is the one that tests here use")
    func request() throws {
        let blocks = try Self.blocks()
        let request = try JSONDecoder().decode(StrategyRequest.self, from: Data((blocks["request"] ?? "").utf8))
        #expect(request.role == .app)
        #expect(blocks["test"]?.contains("try StrategyComplianceTest(") == true)
    }

    @Test("Its table names every member of a description, and its wire everything that may be set")
    func members() throws {
        let text = try Self.text("README.md")
        let told = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
        var description = StrategyRequest.sample.description
        description.configuration = "Local"
        description.fileProtection = .complete
        description.posixMode = 0o660
        description.posixGroup = "20"
        description.modelFile = "/m"
        let encoded = try JSONDecoder().decode([String: Anything].self, from: JSONEncoder().encode(description))
        #expect(told.sorted() == encoded.keys.sorted())
        let wire = try Self.blocks()["wire"] ?? ""
        for name in encoded.keys where DescriptionOption(rawValue: name).isSettable || name == "sqlitePragmas" {
            #expect(wire.contains("\(name)?:"), "\(name)")
        }
    }

    /// A value of any kind.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {}
    }
}
