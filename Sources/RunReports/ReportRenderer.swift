/// Writes a page; the same page gives the same text.
struct ReportRenderer {
    private var markup = Markup()
    /// Numbers the plots, whose titles are found by their names.
    private var figures = 0

    static func text(of page: ReportPage) -> String {
        var renderer = ReportRenderer()
        renderer.write(page)
        return "<!DOCTYPE html>\n" + renderer.markup.text + "\n"
    }

    private mutating func write(_ page: ReportPage) {
        let sections = page.sections.filter { !$0.blocks.isEmpty }
        markup.open("html", ["lang": "en", "dir": "ltr"])
        writeHead(page)
        markup.open("body")
        writeHeader(page)
        if sections.count > 1 { writeContents(sections) }
        markup.open("main")
        for (index, section) in sections.enumerated() { write(section, number: index + 1) }
        markup.close("main")
        if !page.colophon.isEmpty {
            markup.element("footer") { markup in
                for line in page.colophon { markup.element("p", line) }
            }
        }
        markup.close("body")
        markup.close("html")
    }

    private mutating func writeHead(_ page: ReportPage) {
        markup.element("head") { markup in
            markup.empty("meta", ["charset": "utf-8"])
            markup.empty("meta", ["name": "generator", "content": "store-migrate"])
            markup.empty(
                "meta",
                [
                    "http-equiv": "Content-Security-Policy",
                    "content": "default-src 'none'; style-src 'unsafe-inline'",
                ]
            )
            markup.empty("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
            markup.empty("meta", ["name": "color-scheme", "content": "light dark"])
            markup.empty("meta", ["name": "referrer", "content": "no-referrer"])
            markup.element("title", page.title)
            markup.element("style") { $0.raw(ReportStyle.sheet) }
        }
        markup.lineBreak()
    }

    private mutating func writeHeader(_ page: ReportPage) {
        markup.element("header") { markup in
            markup.element("p", ["class": "kicker"], page.kicker)
            markup.element("h1", page.title)
            markup.element("p", ["class": "outcome"]) { $0.badge(page.outcome, page.tone) }
            if !page.lede.isEmpty { markup.element("p", ["class": "lede"], page.lede) }
        }
        markup.lineBreak()
    }

    private mutating func writeContents(_ sections: [ReportSection]) {
        markup.element("nav", ["aria-label": "Sections"]) { markup in
            markup.element("ul") { markup in
                for (index, section) in sections.enumerated() {
                    markup.element("li") { $0.element("a", ["href": "#section-\(index + 1)"], section.heading) }
                }
            }
        }
        markup.lineBreak()
    }

    private mutating func write(_ section: ReportSection, number: Int) {
        let name = "section-\(number)"
        markup.open("section", ["id": name, "aria-labelledby": name + "-heading"])
        markup.element("h2", ["id": name + "-heading"], section.heading)
        for block in section.blocks { write(block) }
        markup.close("section")
        markup.lineBreak()
    }

    private mutating func write(_ block: ReportBlock) {
        switch block {
        case .paragraph(let text): markup.element("p", text)
        case .facts(let facts): markup.write(facts)
        case .table(let table): markup.write(table)
        case .lines(let lines):
            markup.element("ul", ["class": "lines"]) { markup in
                for line in lines { markup.element("li") { $0.element("code", line) } }
            }
        case .timeline(let timeline): TimelinePlot(timeline, name: nextFigure()).write(to: &markup)
        case .counts(let counts): CountsPlot(counts, name: nextFigure()).write(to: &markup)
        }
        markup.lineBreak()
    }

    private mutating func nextFigure() -> String {
        figures += 1
        return "figure-\(figures)"
    }
}
