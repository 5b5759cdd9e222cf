import TestSupport
import Testing

@testable import RunReports

@Suite("Hostile names in a report")
struct HostileNamesTests {
    static let names = [
        "</td></table><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\" onload=\"alert(1)",
        "' onclick='x",
        "&lt;b&gt; &amp;amp; &nbsp;", "]]> <!-- --> <![CDATA[ <?php", "javascript:alert(1)", "tab\tline\nend\r",
        "null \u{0} bell \u{7} escape \u{1B}[31m", "delete \u{7F} \u{85} \u{9B}", "\u{202E}txt.exe\u{202C}",
        "\u{2066}isolated\u{2069} \u{200F}\u{061C}", "\u{2028}\u{2029}\u{FEFF}", "no\u{FFFE}char\u{FFFF}\u{1FFFE}",
        "soft\u{AD}hyphen\u{200B}", "café 日本語 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 שלום", "</style><style>*{display:none}",
        "</svg><svg/onload=alert(1)>",
        "", String(repeating: "long", count: 500),
    ]

    /// A page with a text in every position.
    static func page(_ name: String) -> ReportPage {
        ReportPage(
            kicker: name,
            title: name,
            outcome: name,
            tone: .attention,
            lede: name,
            sections: [
                ReportSection(
                    name,
                    [
                        .paragraph(name), .facts([ReportFact(name, ReportCell(name, .literal, note: name))]),
                        .lines([name]),
                        .table(
                            ReportTable(
                                name,
                                columns: [.init(name), .init(name, isNumeric: true)],
                                rows: [[ReportCell(name), ReportCell(name, .badge(.bad), note: name, isChosen: true)]]
                            )
                        ),
                    ]
                ),
                ReportSection(
                    name,
                    [
                        .timeline(ReportTimeline([.init(name, from: .zero, to: .seconds(1), label: name)])),
                        .counts(
                            ReportCounts(
                                of: name,
                                in: [name, name],
                                rows: [.init(name, [.init(1, label: name), .init(nil, label: name)])]
                            )
                        ),
                    ]
                ),
            ],
            colophon: [name]
        )
    }

    @Test("A hostile name adds no element or attribute to the page", arguments: names)
    func text(_ name: String) throws {
        let root = try XMLTree.parse(Self.page(name).html)
        let plain = try XMLTree.parse(Self.page("plain").html)
        // Entities are ordered by name, cut text gets a title, and an empty text gets no paragraph.
        let names = [root, plain].map { $0.all.map(\.name).filter { $0 != "title" }.sorted() }
        if name.isEmpty {
            #expect(Set(names[1]).isSuperset(of: names[0]))
        } else {
            #expect(names[0] == names[1])
        }
        let known = Set(plain.all.flatMap { $0.attributes.keys })
        for element in root.all {
            #expect(known.isSuperset(of: element.attributes.keys), "\(element.attributes.keys)")
            #expect(!element.attributes.keys.contains { $0.hasPrefix("on") })
            if let link = element.attributes["href"] { #expect(link.hasPrefix("#section-")) }
        }
    }

    @Test("Invisible and direction-changing characters are written as their number", arguments: names)
    func visible(_ name: String) throws {
        let html = Self.page(name).html
        let scalars = html.unicodeScalars
        #expect(!scalars.contains { $0.value < 0x20 && $0 != "\n" })
        #expect(!scalars.contains { (0x7F...0x9F).contains($0.value) || (0x202A...0x202E).contains($0.value) })
        #expect(!scalars.contains { (0x2066...0x2069).contains($0.value) || $0.properties.isNoncharacterCodePoint })
        let root = try XMLTree.parse(html)
        let spelled = name.unicodeScalars.map { scalar -> String in
            let written = MarkupText.escaped(String(scalar))
            return written.hasPrefix("\\u{") ? written : String(scalar)
        }
        #expect(root.all("h1").first?.text == spelled.joined())
    }

    @Test("Letters of every script, joined emoji and flags stay as they are")
    func letters() {
        for text in ["café 日本語 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 שלום", "नमस्ते", "می‌خواهم"] { #expect(MarkupText.escaped(text) == text) }
        #expect(MarkupText.escaped("a\u{202E}b\n") == "a\\u{202E}b\\u{A}")
        #expect(MarkupText.escaped("<a href='x'>\"&") == "&lt;a href=&#39;x&#39;&gt;&quot;&amp;")
    }
}
