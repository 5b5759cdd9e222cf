import Foundation
import StoreFixtures
import TestSupport
import Testing

/// A package outside this one, below a path with a space, whose target the plugin builds again and again.
@Suite("The plugin GenerateManagedObjects in another package", .verify)
struct PluginTests {
    private let scratch: ScratchFolder
    private let package: ClientPackage
    private var folder: String { scratch.path + "/the app" }
    private var sources: String { folder + "/Sources/App" }

    init() throws {
        scratch = try ScratchFolder()
        package = try ClientPackage(folder: scratch.path + "/the app")
        try package.write(
            "Package.swift",
            """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "strangers-app",
                dependencies: [.package(name: "store-migrate", path: "\(Checkout.path)")],
                targets: [
                    .executableTarget(
                        name: "App",
                        dependencies: [.product(name: "ManagedObjects", package: "store-migrate")],
                        plugins: [.plugin(name: "GenerateManagedObjects", package: "store-migrate")]
                    )
                ]
            )
            """
        )
    }

    private func writeModel(_ path: String, _ entity: String, _ attributes: String...) throws {
        let list = attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }.joined()
        try package.write(
            "Sources/App/\(path).xcdatamodeld/\(path.split(separator: "/").last ?? "").xcdatamodel/contents",
            "<?xml version=\"1.0\"?><model><entity name=\"\(entity)\">\(list)</entity></model>"
        )
    }

    /// Prints the names of the listed properties.
    private func writeMain(_ classes: String...) throws {
        let lines = classes.map { "print(\"\($0)\", \($0).properties.map(\\.name))" }
        try package.write("Sources/App/main.swift", "import ManagedObjects\n\n" + lines.joined(separator: "\n") + "\n")
    }

    /// Leaves a store whose log has committed pages that its main file lacks.
    private func writeStore(_ name: String) throws {
        try scratch.write(
            "songs.yaml",
            Array("seed: songs\nmodel:\n  entities:\n    Song:\n      attributes: {name: string}\n".utf8)
        )
        try RecipeBuilder.build(recipeFile: scratch.path + "/songs.yaml", at: scratch.location("songs.sqlite"))
        let (from, to) = (scratch.path + "/songs.sqlite", sources + "/" + name)
        let copy = ".shell cp '\(from)' '\(to)' && cp '\(from)-wal' '\(to)-wal'"
        let run = try ChildProgram.run(["sqlite3", from, "PRAGMA journal_mode = WAL", "CREATE TABLE other (x)", copy])
        try #require(run.status == 0 && FileManager.default.fileExists(atPath: to + "-wal"), "\(run.output)")
    }

    private func execute(_ database: String, _ statements: String) throws {
        let run = try ChildProgram.run(["sqlite3", sources + "/" + database, statements])
        try #require(run.status == 0, "\(run.output)")
    }

    @Test("Models of one name in two folders, a plain database, a changed model and two models of one class")
    func models() throws {
        try writeModel("Habits", "Habit", "name")
        try writeModel("old ones/Habits", "Book", "title")
        try execute("Plain.sqlite", "CREATE TABLE t (x)")
        try writeMain("Habit", "Book")
        let first = try package.run("App")
        #expect(first.status == 0 && first.output.hasSuffix("Habit [\"name\"]\nBook [\"title\"]\n"), "\(first)")

        try writeStore("Songs.sqlite")
        try writeMain("Habit", "Book", "Song")
        let files = try FileManager.default.contentsOfDirectory(atPath: sources).sorted()
        let third = try package.run("App")
        #expect(third.output.hasSuffix("Book [\"title\"]\nSong [\"name\"]\n"), "\(third)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: sources).sorted() == files)

        try writeMain("Habit", "Book")
        try writeModel("Habits", "Habit", "name", "rank")
        let second = try package.run("App")
        #expect(second.output.hasSuffix("Habit [\"name\", \"rank\"]\nBook [\"title\"]\n"), "\(second)")

        try writeModel("old ones/Habits", "Habit", "title")
        let clash = try package.run("App")
        #expect(clash.status != 0)
        #expect(clash.output.contains("/Sources/App/Habits.xcdatamodeld"), "\(clash)")
        #expect(clash.output.contains("/Sources/App/old ones/Habits.xcdatamodeld"))
        #expect(clash.output.contains("both have the class Habit"))
    }
}
