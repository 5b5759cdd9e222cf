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
        func write(_ name: String, _ text: String) throws {
            let folder = name.split(separator: "/").dropLast().joined(separator: "/")
            if !folder.isEmpty { _ = try scratch.folder(folder) }
            _ = try scratch.file(name, Array(text.utf8))
        }
        try write("Package.swift", block("swift manifest").replacing("../store-migrate", with: Tool.package))
        try write("Sources/HabitStrategies/QuickTimeout.swift", block("swift"))
        try write("Sources/habits/main.swift", block("swift main"))
        try write("Tests/HabitStrategiesTests/HabitStrategiesTests.swift", block("swift suite"))
        // The dependencies of this package, which are fetched already.
        _ = try scratch.copy(Tool.package + "/Package.resolved", as: "Package.resolved")
        let build = Tool.package + "/.build/strangers"
        let tested = try await Tool.run(
            command: ["swift", "test", "--package-path", scratch.path, "--force-resolved-versions", "--jobs", "2"]
                + ["--scratch-path", build]
        )
        #expect(tested.status == 0, "\(tested.output.suffix(4000))\(tested.errors.suffix(4000))")
        // Top-level code awaits the asynchronous calls without a warning.
        #expect(!(tested.output + tested.errors).contains("habits/main.swift:"), "\(tested.output)\(tested.errors)")

        func start(in folder: String) async throws -> Tool.Run {
            try await Tool.run(command: [build + "/debug/habits"], folder: folder)
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
