import Foundation
import TestSupport
import Testing

/// `swift package rehearse-upgrades` in a package that has this one as a dependency.
@Suite("The SwiftPM command", .verify)
struct RehearseCommandTests {
    private static let package = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

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
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-migrate-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ name: String, _ text: String) throws {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        try write("Package.swift", Self.manifest.replacing("PACKAGE", with: Self.package))
        try write(
            "Package.resolved",
            try String(contentsOfFile: Self.package + "/Package.resolved", encoding: .utf8)
        )
        try write("Sources/App/App.swift", "public let name = 1\n")
        try write("Scenarios/first.yaml", Self.scenario)
        try write("Sources/App/Scenarios/second.yaml", Self.scenario)

        let held = try run(["--jobs", "1"], in: folder)
        #expect(held.status == 0, "\(held.output)")
        #expect(held.output.contains("held  first  (") && held.output.contains("held  second  ("))
        try write("Scenarios/first.yaml", Self.scenario.replacing("status: 10", with: "status: 4"))
        let failed = try run(["Scenarios/first.yaml"], in: folder)
        #expect(failed.status != 0)
        #expect(failed.output.contains("FAILED  first") && !failed.output.contains("second"), "\(failed.output)")
    }

    private func run(_ words: [String], in folder: URL) throws -> (status: Int32, output: String) {
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        return try ChildProgram.run(
            [
                "swift", "package", "--package-path", folder.path, "--scratch-path", Self.package + "/.build/strangers",
                "--force-resolved-versions", "rehearse-upgrades",
            ] + words,
            environment: ["STORE_MIGRATE_TOOL": products.appendingPathComponent("store-migrate").path]
        )
    }
}
