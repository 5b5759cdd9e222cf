import TestSupport
import Testing

@testable import RunReports

@Suite("The plots of a report")
struct ReportFigureTests {
    private static func figure(_ block: ReportBlock) throws -> XMLTree {
        let page = ReportPage(
            kicker: "",
            title: "",
            outcome: "",
            tone: .neutral,
            lede: "",
            sections: [ReportSection("", [block])]
        )
        return try XMLTree.parse(page.html)
    }

    @Test("A step's bar shows its start and duration, and the shortest is visible")
    func timeline() throws {
        let root = try Self.figure(
            .timeline(
                ReportTimeline([
                    .init("copying", from: .zero, to: .milliseconds(250), label: "0.250 s"),
                    .init("publishing", from: .milliseconds(250), to: .milliseconds(250), label: "0.000 s"),
                    .init("proving", from: .milliseconds(250), to: .seconds(1), label: "0.750 s", tone: .bad),
                ])
            )
        )
        let bars = root.all("rect").filter { $0.attributes["class"]?.hasPrefix("step") == true }
        #expect(bars.map { $0.attributes["x"] } == ["0%", "25%", "25%"])
        #expect(bars.map { $0.attributes["width"] } == ["25%", "0.4%", "75%"])
        #expect(bars.last?.attributes["class"] == "step bad")
        #expect(root.all("text").map(\.text) == ["copying", "0.250 s", "publishing", "0.000 s", "proving", "0.750 s"])
        let plot = try #require(root.all("svg").first)
        let title = try #require(plot.all("title").first)
        #expect(plot.attributes["aria-labelledby"] == title.attributes["id"])
        #expect(title.text == "copying: 0.250 s; publishing: 0.000 s; proving: 0.750 s")
    }

    @Test("Bars are proportional to the amounts; labels merge equal amounts, and a table lists all")
    func counts() throws {
        let root = try Self.figure(
            .counts(
                ReportCounts(
                    of: "entity",
                    in: ["old", "new"],
                    rows: [
                        .init("Habit", [.init(10, label: "10"), .init(10, label: "10")]),
                        .init("Day", [.init(1000, label: "1,000"), .init(500, label: "500")]),
                        .init("Gone", [.init(0, label: "0"), .init(nil, label: "none")]),
                    ]
                )
            )
        )
        let bars = root.all("rect").filter { $0.attributes["class"]?.hasPrefix("bar") == true }
        #expect(bars.map { $0.attributes["width"] } == ["100%", "50%", "1%", "1%"])
        #expect(root.all("text").map(\.text) == ["Day", "1,000 → 500", "Habit", "10"])
        #expect(root.all("figcaption").first?.text == "Upper bar: old. Lower bar: new. 1 more in the table.")
        let rows = root.all("tbody").flatMap { $0.all("tr") }.map { $0.children.map(\.text) }
        #expect(rows == [["Habit", "10", "10"], ["Day", "1,000", "500"], ["Gone", "0", "none"]])
    }
}
