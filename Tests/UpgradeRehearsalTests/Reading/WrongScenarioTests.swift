import FoundationEssentials
import TestSupport
import Testing
import UpgradeRehearsal

/// Scenarios with one mistake each; the first line of each has the expected position and message.
@Suite("Invalid scenarios")
struct WrongScenarioTests {
    static let folder = Checkout.path + "/Tests/UpgradeRehearsalTests/WrongScenarios"

    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()

    @Test("The folder has at least ten invalid scenarios")
    func count() { #expect(Self.names.count >= 10) }

    @Test("An invalid scenario is reported with line and column", arguments: names)
    func wrong(_ name: String) throws {
        let path = Self.folder + "/" + name
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let first = try #require(text.split(separator: "\n").first).dropFirst(2)
        let place = try #require(first.split(separator: " ").first)

        let error = #expect(throws: ScenarioError.self) { try Scenario(file: path) }

        let told = try #require(error)
        #expect("\(told.line ?? 0):\(told.column ?? 0)" == place, "\(told)")
        #expect(told.message.hasPrefix(first.dropFirst(place.count + 1)), "\(told)")
        #expect(told.description.hasPrefix("\(path):\(place): "))
    }
}
