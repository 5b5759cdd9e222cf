import FoundationEssentials
import StoreStrategies
import TestSupport
import Testing

@testable import StrategyProcess

@Suite("Plugins/README.md", .verify, .enabled(if: PluginSandbox.isKernelAble, "needs Landlock"))
struct PluginsReadmeTests {
    private static let folder = Checkout.path + "/Plugins/"

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: URL(filePath: folder + name), encoding: .utf8)
    }

    /// The fenced blocks, by the text after the language.
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

    @Test("The page begins with its title")
    func firstLine() throws {
        #expect(try Self.text("README.md").hasPrefix("# Strategy plugins, not SwiftPM plugins\n"))
    }

    @Test(
        "The page's examples equal the plugins that other tests run",
        arguments: [
            "PatientTimeout/PatientTimeoutStrategy.swift", "PatientTimeout/main.swift",
            "ExcludedFromBackup/store-migrate-strategy-ExcludedFromBackup",
        ]
    )
    func examples(_ name: String) throws { #expect(try Self.blocks()[name] == Self.text(name)) }

    @Test("The page's plugin in shell runs as printed and answers the printed request")
    func shell() throws {
        let blocks = try Self.blocks()
        let text = try #require(blocks["ExcludedFromBackup/store-migrate-strategy-ExcludedFromBackup"])
        let request = try JSONDecoder().decode(StrategyRequest.self, from: Data((blocks["request"] ?? "").utf8))
        let folder = try PluginFolder()
        try folder.write(PluginFile.prefix + "ExcludedFromBackup", text)
        let strategy = try folder.strategy("ExcludedFromBackup")
        #expect(try strategy.evaluate(request) == .applicable)
        #expect(try strategy.describe(request).values == [.isExcludedFromBackup: "true"])
    }

    @Test("The page's plugin in Swift answers the printed request")
    func swift() throws {
        let request = try JSONDecoder()
            .decode(StrategyRequest.self, from: Data((try Self.blocks()["request"] ?? "").utf8))
        let folder = try PluginFolder()
        try ExamplePlugin.copy("PatientTimeout", from: Checkout.products, to: folder)
        #expect(try folder.strategy("PatientTimeout").describe(request).values == [.timeout: "300.0"])
    }

    @Test(
        "The page's transcript and the recorded conversation equal the answers of the plugin in Swift",
        arguments: ["transcript", "conversation.txt"]
    )
    func replayed(_ name: String) throws {
        let recorded = Self.folder + "../Fixtures/Messages/" + name
        let text = try Self.blocks()[name] ?? String(contentsOf: URL(filePath: recorded), encoding: .utf8)
        let lines = text.split(separator: "\n")
        let questions = try lines.filter { $0.hasPrefix("> ") }
            .map { try StrategyMessage.Question(line: Array($0.dropFirst(2).utf8)) }
        #expect(questions.count >= 3 && lines.count == 2 * questions.count)
        let folder = try PluginFolder()
        try ExamplePlugin.copy("PatientTimeout", from: Checkout.products, to: folder)
        let answers = try PluginConversation.answers(
            to: questions.map { try $0.line() },
            from: try #require(try folder.locate("PatientTimeout")),
            in: .required,
            time: PluginTime(.seconds(60)),
            isCancelled: nil,
            reading: StrategyMessage.Answer.init(line:)
        )
        let said = try answers.map { String(decoding: try $0.line().dropLast(), as: UTF8.self) }
        #expect(said == lines.filter { $0.hasPrefix("< ") }.map { String($0.dropFirst(2)) })
    }

    @Test("The page's table lists every member of a description, and its wire every settable option")
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
        description.notificationNames = NotificationNames(post: nil, observe: [])
        let encoded = try JSONDecoder().decode([String: Anything].self, from: JSONEncoder().encode(description))
        #expect(told.sorted() == encoded.keys.sorted())
        let wire = try Self.blocks()["wire"] ?? ""
        for name in encoded.keys where DescriptionOption(rawValue: name).isSettable || name == "sqlitePragmas" {
            #expect(wire.contains("\(name)?:"), "\(name)")
        }
    }

    @Test("The page explains how a plugin names pragmas, and lists every pragma that a strategy may set")
    func pragmas() throws {
        let text = try Self.text("README.md")
        #expect(text.contains("`sqlitePragmas.<name>`"))
        for name in DescriptionOption.settablePragmas { #expect(text.contains("`\(name)`"), "\(name)") }
        let folder = try PluginFolder()
        try folder.plugin("Vague", capability: HostilePlugin.capability("Vague", sets: "sqlitePragmas"))
        let error = #expect(throws: StrategyError.self) { try folder.strategy("Vague") }
        #expect(error?.message.contains("sqlitePragmas.<name>") == true, "\(error?.message ?? "")")
    }

    /// A value of any kind.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {}
    }
}
