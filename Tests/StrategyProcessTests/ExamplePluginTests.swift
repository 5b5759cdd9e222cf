import FoundationEssentials
import StoreMigrationTesting
import StoreStrategies
import TestSupport
import Testing

@testable import StrategyProcess

@Suite("The example plugins", .verify, .enabled(if: PluginSandbox.isKernelAble, "needs Landlock"))
struct ExamplePluginTests {
    private let folder: PluginFolder

    init() throws { folder = try PluginFolder() }

    @Test("The example in shell passes the compliance test and has at most fifteen lines")
    func shell() throws {
        try ExamplePlugin.copy("ExcludedFromBackup", from: ExamplePlugin.shellSource, to: folder)
        let strategy = try folder.strategy("ExcludedFromBackup", within: 600)
        try StrategyComplianceTest(strategy).run(on: [StoreFacts()])
        #expect(try strategy.describe(.sample).isExcludedFromBackup == true)
        let text = try String(
            contentsOf: URL(filePath: ExamplePlugin.shellSource + "/store-migrate-strategy-ExcludedFromBackup"),
            encoding: .utf8
        )
        #expect(text.split(separator: "\n").count <= 15)
    }

    @Test("The example in Swift passes the compliance test")
    func swift() throws {
        try ExamplePlugin.copy("PatientTimeout", from: Checkout.products, to: folder)
        let strategy = try folder.strategy("PatientTimeout", within: 600)
        try StrategyComplianceTest(strategy, options: [["seconds": "20"]]).run(on: [StoreFacts()])
        var request = StrategyRequest.sample
        request.options = ["seconds": "20"]
        #expect(try strategy.describe(request).timeout == 20)
        request.options = ["seconds": "long"]
        let error = #expect(throws: StrategyError.self) { try strategy.describe(request) }
        #expect(error?.message.contains("'long' is no value of the option seconds") == true, "\(error?.message ?? "")")
    }
}
