import TestSupport
import Testing

/// `swift package rehearse-upgrades` in a package that has this one as a dependency.
@Suite("The SwiftPM command", .verify)
struct RehearseCommandTests {
    private static let manifest = """
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "stranger",
            dependencies: [.package(name: "store-migrate", path: "PACKAGE")],
            targets: [.target(name: "App")]
        )
        """

    private static let scenario = """
        about: It holds.
        stores: {old: {at: old.sqlite}}
        steps: [{inspect: [old], ends: {status: 10}}]
        holds: [{absent: old.sqlite}]

        """

    /// The test names the built tool; without a name the command builds it.
    @Test("The command runs the scenarios of the package and of its targets, and fails where one does not hold")
    func command() throws {
        let scratch = try ScratchFolder()
        let package = try ClientPackage(folder: scratch.path)
        try package.write("Package.swift", Self.manifest.replacing("PACKAGE", with: Checkout.path))
        try package.write("Sources/App/App.swift", "public let name = 1\n")
        try package.write("Scenarios/first.yaml", Self.scenario)
        try package.write("Sources/App/Scenarios/second.yaml", Self.scenario)

        func rehearse(_ words: String...) throws -> (status: Int32, output: String) {
            try package.swift(
                "package",
                ["rehearse-upgrades"] + words,
                environment: ["STORE_MIGRATE_TOOL": Checkout.program("store-migrate")]
            )
        }
        let held = try rehearse("--jobs", "1")
        #expect(held.status == 0, "\(held.output)")
        #expect(held.output.contains("held  first  (") && held.output.contains("held  second  ("))
        try package.write("Scenarios/first.yaml", Self.scenario.replacing("status: 10", with: "status: 4"))
        let failed = try rehearse("Scenarios/first.yaml")
        #expect(failed.status != 0)
        #expect(failed.output.contains("FAILED  first") && !failed.output.contains("second"), "\(failed.output)")
    }
}
