import FoundationEssentials
import StoreMigrationTesting
import StoreStrategies
import Testing

@testable import StrategyProcess

@Suite("The example plugins", .enabled(if: PluginSandbox().landlockVersion > 0, "needs Landlock"))
struct ExamplePluginTests {
    private static let package = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// The folder of the test bundle, in which programs of the package lie, too.
    private static var products: String {
        get throws {
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
        }
    }

    /// A folder of its own for a plugin, as a user would make one.
    private func strategy(_ name: String, from source: String) throws -> (PluginFolder, ProcessStrategy) {
        let folder = try PluginFolder()
        let path = folder.path + "/" + PluginFile.prefix + name
        try ExecutableFile.copy(source + "/" + PluginFile.prefix + name, to: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return (folder, try folder.strategy(name))
    }

    @Test("The one in shell keeps the contract, in at most fifteen lines")
    func shell() throws {
        let source = Self.package + "/Plugins/ExcludedFromBackup"
        let (folder, strategy) = try strategy("ExcludedFromBackup", from: source)
        defer { withExtendedLifetime(folder) {} }
        try StrategyComplianceTest(strategy).run(on: [StoreFacts()])
        #expect(try strategy.describe(.sample).isExcludedFromBackup == true)
        let text = try String(
            contentsOf: URL(filePath: source + "/store-migrate-strategy-ExcludedFromBackup"),
            encoding: .utf8
        )
        #expect(text.split(separator: "\n").count <= 15)
    }

    @Test("The one in Swift keeps the contract")
    func swift() throws {
        let (folder, strategy) = try strategy("PatientTimeout", from: Self.products)
        defer { withExtendedLifetime(folder) {} }
        try StrategyComplianceTest(strategy, options: [["seconds": "20"]]).run(on: [StoreFacts()])
        var request = StrategyRequest.sample
        request.options = ["seconds": "20"]
        #expect(try strategy.describe(request).timeout == 20)
        request.options = ["seconds": "long"]
        let error = #expect(throws: StrategyError.self) { try strategy.describe(request) }
        #expect(error?.message.contains("'long' is no value of the option seconds") == true, "\(error?.message ?? "")")
    }
}
