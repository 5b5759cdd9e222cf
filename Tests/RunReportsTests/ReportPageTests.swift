import TestSupport
import Testing

@testable import RunReports

@Suite("The HTML of a report")
struct ReportPageTests {
    private static let page = ReportPage(
        kicker: "store-migrate merge",
        title: "Merged Habits.sqlite",
        outcome: "merged, exit status 0",
        tone: .good,
        lede: "1 updated.",
        sections: [
            ReportSection(
                "The stores",
                [
                    .facts([ReportFact("into", ReportCell("/a/Habits.sqlite", .literal, note: "proved"))]),
                    .lines(["store-migrate verify /a/Habits.sqlite"]),
                ]
            ),
            ReportSection("Nothing in it", []),
            ReportSection(
                "Conflicts",
                [
                    .table(
                        ReportTable(
                            "The value that was taken is underlined",
                            columns: ["object", "old store", .init("rank", isNumeric: true)],
                            rows: [
                                [
                                    ReportCell("Habit/1", .literal), ReportCell("Mine", .literal, isChosen: true),
                                    ReportCell("error", .badge(.bad)),
                                ]
                            ]
                        )
                    )
                ]
            ),
        ],
        colophon: ["Made by hand."]
    )

    @Test("Facts, tables and marks have the expected markup")
    func golden() {
        let lines = Self.page.html.split(separator: "\n").map(String.init)
        #expect(lines.first == "<!DOCTYPE html>")
        let body = lines.drop { !$0.hasPrefix("<body>") }.joined(separator: "\n")
        #expect(
            body == """
                <body><header><p class="kicker">store-migrate merge</p><h1>Merged Habits.sqlite</h1><p class="outcome">\
                <span class="badge good"><span aria-hidden="true">✓</span> merged, exit status 0</span></p>\
                <p class="lede">1 updated.</p></header>
                <nav aria-label="Sections"><ul><li><a href="#section-1">The stores</a></li>\
                <li><a href="#section-2">Conflicts</a></li></ul></nav>
                <main><section id="section-1" aria-labelledby="section-1-heading"><h2 id="section-1-heading">\
                The stores</h2><dl><div><dt>into</dt><dd><code>/a/Habits.sqlite</code>\
                <small class="note">proved</small></dd></div></dl>
                <ul class="lines"><li><code>store-migrate verify /a/Habits.sqlite</code></li></ul>
                </section>
                <section id="section-2" aria-labelledby="section-2-heading"><h2 id="section-2-heading">Conflicts</h2>\
                <table role="table"><caption>The value that was taken is underlined</caption><thead role="rowgroup">\
                <tr role="row"><th scope="col" role="columnheader">object</th>\
                <th scope="col" role="columnheader">old store</th>\
                <th scope="col" role="columnheader" class="number">rank</th></tr></thead><tbody role="rowgroup">\
                <tr role="row"><th scope="row" role="rowheader"><code>Habit/1</code></th>\
                <td role="cell" data-label="old store"><mark><code>Mine</code></mark></td>\
                <td role="cell" class="number" data-label="rank"><span class="badge bad">\
                <span aria-hidden="true">✕</span> error</span></td></tr>
                </tbody></table>
                </section>
                </main><footer><p>Made by hand.</p></footer></body></html>
                """
        )
    }

    @Test("A page has no script and no URL, and its policy forbids all requests")
    func selfContained() throws {
        let html = Self.page.html
        let root = try XMLTree.parse(html)
        #expect(root.attributes["lang"] == "en")
        #expect(root.all("title").first?.text == "Merged Habits.sqlite")
        let policies = root.all("meta").filter { $0.attributes["http-equiv"] == "Content-Security-Policy" }
        #expect(policies.map { $0.attributes["content"] } == ["default-src 'none'; style-src 'unsafe-inline'"])
        #expect(root.all("h1").count == 1)
        for section in root.all("section") {
            let name = try #require(section.attributes["aria-labelledby"])
            #expect(section.all("h2").first?.attributes["id"] == name)
        }
        for word in ["http:", "https:", "<script", "url(", "@import", "src="] {
            #expect(!html.contains(word), "\(word)")
        }
        for scheme in ["light", "dark"] { #expect(html.contains("prefers-color-scheme: dark"), "\(scheme)") }
        #expect(html.contains("@media print"))
    }

    @Test("Equal pages give equal texts")
    func deterministic() {
        let again = ReportPage(
            kicker: Self.page.kicker,
            title: Self.page.title,
            outcome: Self.page.outcome,
            tone: Self.page.tone,
            lede: Self.page.lede,
            sections: Self.page.sections,
            colophon: Self.page.colophon
        )
        #expect(again.html == Self.page.html)
    }
}
