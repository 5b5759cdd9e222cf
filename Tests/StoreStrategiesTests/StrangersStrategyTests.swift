import Foundation
import TestSupport
import Testing

/// A strategy in a package that only depends on this one.
@Suite("A strategy in another package", .verify)
struct StrangersStrategyTests {
    private static let strategy = """
        import StoreStrategies

        struct QuickTimeout: StoreStrategy {
            let name = "QuickTimeout"
            let documentation = StrategyDocumentation(
                summary: "Gives up soon when the store is busy.",
                sets: [.timeout],
                example: "QuickTimeout",
                notApplicable: "It applies to every store."
            )

            func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

            func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
                var changes = DescriptionChanges()
                changes.CHANGE
                return changes
            }
        }

        """

    @Test(
        "The compliance test passes for a correct strategy and reports a wrong one",
        arguments: [("timeout = 5", ""), ("isReadOnly = true", "it sets isReadOnly, which it does not document")]
    )
    func compiled(_ change: String, _ complaint: String) throws {
        let text = try output(
            of: Self.strategy.replacing("CHANGE", with: change),
            "try StrategyComplianceTest(QuickTimeout()).run()"
        )
        #expect(complaint.isEmpty ? text.isEmpty : text.contains(complaint), "\(text)")
    }

    @Test("The strategy and the test that Plugins/README.md prints compile and pass")
    func printed() throws {
        let readme = try String(contentsOfFile: Checkout.path + "/Plugins/README.md", encoding: .utf8)
        let blocks = try ["```swift PatientTimeout/PatientTimeoutStrategy.swift\n", "```swift test\n"]
            .map { start in
                let rest = try #require(readme.range(of: start).map { readme[$0.upperBound...] })
                return String(rest[..<(try #require(rest.range(of: "\n```")).lowerBound)])
            }
        let text = try output(of: blocks[0], blocks[1])
        #expect(text.isEmpty, "\(text)")
    }

    /// Compiles a strategy with a line that tests it, and returns the program's output.
    private func output(of strategy: String, _ test: String) throws -> String {
        let products = URL(filePath: Checkout.products)
        let scratch = try Scratch()
        try scratch.write(
            "main.swift",
            "import StoreMigrationTesting\n" + strategy + "\ndo { \(test) } catch { print(error) }\n"
        )
        let objects = try ["NearNames", "StoreStrategies", "StoreMigrationTesting"]
            .flatMap { module in
                let folder = products.appendingPathComponent("\(module).build").path
                // The folder keeps the objects of files that were removed since.
                let sources = try FileManager.default.subpathsOfDirectory(atPath: Checkout.path + "/Sources/" + module)
                let names = Set(sources.map { URL(fileURLWithPath: $0).lastPathComponent + ".o" })
                return try FileManager.default.contentsOfDirectory(atPath: folder).filter(names.contains)
                    .map { folder + "/" + $0 }
            }
        let program = scratch.path("program")
        let built = try ChildProgram.run(
            ["swiftc", "-swift-version", "6", "-I", products.appendingPathComponent("Modules").path]
                + ["-o", program, scratch.path("main.swift")] + objects
        )
        #expect(built.status == 0, "\(built.output)")
        return try ChildProgram.run([program]).output
    }

    /// A folder that is removed with the test.
    private final class Scratch {
        private let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("store-migrate-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

        func write(_ name: String, _ text: String) throws {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
    }
}
