import Foundation
import TestSupport
import Testing

/// A package outside this one, which consists of the blocks of a page.
@Suite("The page on starting a package", .verify)
struct StartPageTests {
    private let page: Page

    init() throws { page = try Page("Sources/StoreMigration/StoreMigration.docc/StartingAPackage.md") }

    private func block(_ kind: String) throws -> String {
        let blocks = page.blocks.filter { $0.kind == kind }
        #expect(blocks.count == 1, "\(kind)")
        return try #require(blocks.first).text
    }

    @Test(
        "The package builds and passes its test; its program creates a store, opens it again, and shares a former one"
    )
    func package() async throws {
        let scratch = try Scratch()
        let package = try ClientPackage(folder: scratch.path)
        try package.write("Package.swift", block("swift manifest").replacing("../store-migrate", with: Checkout.path))
        try package.write("Sources/HabitStrategies/QuickTimeout.swift", block("swift"))
        try package.write("Sources/habits/main.swift", block("swift main"))
        try package.write("Tests/HabitStrategiesTests/HabitStrategiesTests.swift", block("swift suite"))
        let tested = try package.swift("test")
        #expect(tested.status == 0, "\(tested.output.suffix(4000))")
        // Top-level code awaits the asynchronous calls without a warning.
        #expect(!tested.output.contains("habits/main.swift:"), "\(tested.output)")

        func start(in folder: String) async throws -> Tool.Run {
            try await Tool.run(command: [package.program("habits")], folder: folder)
        }
        _ = try scratch.folder("private")
        _ = try scratch.folder("group")
        let first = try await start(in: scratch.path)
        #expect(
            first.errors.isEmpty && page.blocks.contains { $0.kind == "text" && $0.text == first.output },
            "\(first)"
        )
        let second = try await start(in: scratch.path)
        #expect(second.status == 0 && second.output.hasPrefix("alreadyShared: "), "\(second)")
        #expect(second.output.hasSuffix("\nRead ten pages\nRead ten pages\n"))

        // The store becomes the private one of a former version.
        _ = try scratch.folder("upgrade")
        _ = try scratch.folder("upgrade/group")
        try FileManager.default.moveItem(atPath: scratch.path("group"), toPath: scratch.path("upgrade/private"))
        let upgraded = try await start(in: scratch.path("upgrade"))
        #expect(upgraded.status == 0 && upgraded.output.hasPrefix("shared: "), "\(upgraded)")
        #expect(
            upgraded.output.contains("\nNext: store-migrate retire \(scratch.path("upgrade/private/Habits.sqlite"))\n")
        )
        #expect(upgraded.lines.count { $0 == "Read ten pages" } == 3)
    }

    @Test("The page lists each system library that the package links, and every library product")
    func libraries() throws {
        let manifest = try String(contentsOfFile: Tool.package + "/Package.swift", encoding: .utf8)
        let makefile = try String(contentsOfFile: Tool.package + "/Makefile", encoding: .utf8)
        // The packages of headers, except for compressors that only the release links.
        let headers = makefile.matches(of: /\/usr\/include\/[\w.\/+]+=([\w+-]+)/).map { String($0.1) }
        let needed = Set(headers).subtracting(["libbz2-dev", "liblzma-dev", "libzstd-dev", "libfuse3-dev"])
        let line = try #require(page.blocks.first { $0.text.hasPrefix("apt-get install ") }?.lines.first)
        #expect(Set(line.split(separator: " ").dropFirst(2).map(String.init)) == needed)
        let products = manifest.matches(of: /\.library\(\s*name: "(\w+)",\s*targets/).map { String($0.1) }
        let listed = page.prose.compactMap { $0.text.firstMatch(of: /^\| `(\w+)` \|/).map { String($0.1) } }
        #expect(Set(listed) == Set(products) && products.count == 10)
    }
}
