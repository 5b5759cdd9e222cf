import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The demonstration's script and its quotation", .verify)
struct DemonstrationTests {
    @Test("The demonstration script shows every part of the flows and ends with status 0")
    func script() async throws {
        let programs = FilePath(try Tool.path).removingLastComponent().string
        let run = try await Tool.run(command: [Tool.package + "/Fixtures/HabitCalendar/demo", programs])
        #expect(run.status == 0, "\(run.errors)")
        // In this order.
        let parts = [
            "FIRST LAUNCH", "There are no shared habits: start the app.", "Read ten pages: 0 days executed",
            "Read ten pages: 1 day executed", "UPGRADE", "Shared HabitCalendar.sqlite: 1,204 objects",
            "store moved to ~/group.habits/HabitCalendar.sqlite", "FROM THE APP TO THE WIDGET", "Time for: Evening run",
            "FROM THE WIDGET TO THE APP", "controller: insert 2026-11-15 row 98", "51 executed",
            "controller: insert 2026-11-16 row 99", "Saves while the app did not run: 1",
            "The habit is deleted.", "are removed: 1", "merging   passed", "extension(widget) to app: insert",
            "app to extension(widget): insert", "REPORT", "What was proved",
            "What one program saves arrives in another, tried on a scratch copy. ✓ passed",
        ]
        var rest = run.output[...]
        for part in parts {
            let found = try #require(rest.firstRange(of: part), "'\(part)' is not in: \(rest)")
            rest = rest[found.upperBound...]
        }
    }

    /// The sections of the transcript for each part of the README's line about the demonstration.
    private static let sections = [
        "upgrade": ["UPGRADE: "],
        "changes both ways": ["FROM THE APP TO THE WIDGET: ", "FROM THE WIDGET TO THE APP: "],
        "report": ["REPORT: "],
    ]

    @Test("The demonstration prints what the README shows of the tool, and the parts that the README announces")
    func readme() async throws {
        let programs = FilePath(try Tool.path).removingLastComponent().string
        let run = try await Tool.run(command: [Tool.package + "/Fixtures/HabitCalendar/demo", programs])
        let page = try Page("README.md")
        let shown = Set(run.lines.map { Page.shape($0, "~") })
        let transcript = try #require(page.blocks.first { $0.kind == "transcript" })
        #expect(transcript.lines.count > 15)
        for line in transcript.lines where !line.hasPrefix("$ ") {
            // The README's store and folder have shorter names.
            let named = line.replacing("Habits.sqlite", with: "HabitCalendar.sqlite")
                .replacing("~/group.app", with: "~/group.habits")
            #expect(shown.contains(Page.shape(named, "~")), "\(line)")
        }
        let introduction = "make demo    # an app and its widget: "
        let announced = try #require(page.blocks.flatMap(\.lines).first { $0.hasPrefix(introduction) })
        let parts = announced.dropFirst(introduction.count).split(separator: ", ").map(String.init)
        #expect(Set(parts) == Set(Self.sections.keys))
        // In the README's order.
        var rest = run.output[...]
        for section in parts.flatMap({ Self.sections[$0] ?? [] }) {
            let found = try #require(rest.firstRange(of: "\n# " + section), "\(section)")
            rest = rest[found.upperBound...]
        }
    }

    @Test("The library guide quotes the data controller without changes")
    func quoted() throws {
        let source = try String(
            contentsOfFile: Tool.package + "/Fixtures/HabitCalendar/HabitData/DataController.swift",
            encoding: .utf8
        )
        #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 60)
        #expect(try ReferencePage.library.text.contains("```swift\n\(source)```\n"))
    }
}
