/// Writes a page: well-formed XML that a browser reads as HTML.
///
/// Names of elements and attributes are ours; everything else is escaped on its way in.
struct Markup {
    typealias Attributes = KeyValuePairs<String, String?>

    private(set) var text = ""

    /// Writes an element with what `content` writes; attributes without a value are left out.
    mutating func element(
        _ name: String,
        _ attributes: Attributes = [:],
        _ content: (inout Markup) -> Void
    ) {
        open(name, attributes)
        content(&self)
        close(name)
    }

    /// Begins an element, which the caller closes.
    mutating func open(_ name: String, _ attributes: Attributes = [:]) {
        text += "<" + name + Self.text(attributes) + ">"
    }

    mutating func close(_ name: String) { text += "</" + name + ">" }

    /// Writes an element that holds a text.
    mutating func element(_ name: String, _ attributes: Attributes, _ content: String) {
        element(name, attributes) { $0.write(content) }
    }

    /// Writes an element without attributes that holds a text.
    mutating func element(_ name: String, _ content: String) { element(name, [:], content) }

    /// Writes an element without content: a void element of HTML, or a shape.
    mutating func empty(_ name: String, _ attributes: Attributes = [:]) {
        text += "<" + name + Self.text(attributes) + "/>"
    }

    /// Writes a text.
    mutating func write(_ content: String) { text += MarkupText.escaped(content) }

    mutating func lineBreak() { text += "\n" }

    /// Writes markup without escaping.
    mutating func raw(_ markup: StaticString) { text += "\(markup)" }

    private static func text(_ attributes: Attributes) -> String {
        attributes.map { name, value in value.map { " \(name)=\"\(MarkupText.escaped($0))\"" } ?? "" }.joined()
    }
}

extension Markup {
    /// Writes a word with a colour and a sign.
    mutating func badge(_ word: String, _ tone: ReportTone) {
        element("span", ["class": "badge \(tone.rawValue)"]) { markup in
            markup.element("span", ["aria-hidden": "true"], tone.sign)
            markup.write(" " + word)
        }
    }

    /// Writes a cell's content.
    mutating func write(_ cell: ReportCell) {
        if cell.isChosen { element("mark") { $0.writeText(of: cell) } } else { writeText(of: cell) }
        if let note = cell.note { element("small", ["class": "note"], note) }
    }

    private mutating func writeText(of cell: ReportCell) {
        switch cell.form {
        case .text: write(cell.text)
        case .literal: element("code", cell.text)
        case .badge(let tone): badge(cell.text, tone)
        }
    }

    mutating func write(_ facts: [ReportFact]) {
        element("dl") { markup in
            for fact in facts {
                markup.element("div") { markup in
                    markup.element("dt", fact.name)
                    markup.element("dd") { $0.write(fact.value) }
                }
            }
        }
    }

    /// Writes a table with explicit roles, since each row becomes a card on a narrow page.
    mutating func write(_ table: ReportTable) {
        element("table", ["role": "table"]) { markup in
            markup.element("caption", table.caption)
            markup.element("thead", ["role": "rowgroup"]) { markup in
                markup.element("tr", ["role": "row"]) { markup in
                    for column in table.columns {
                        markup.element(
                            "th",
                            ["scope": "col", "role": "columnheader", "class": column.isNumeric ? "number" : nil],
                            column.heading
                        )
                    }
                }
            }
            markup.element("tbody", ["role": "rowgroup"]) { markup in
                for row in table.rows { markup.write(row, of: table) }
            }
        }
    }

    private mutating func write(_ row: [ReportCell], of table: ReportTable) {
        element("tr", ["role": "row"]) { markup in
            for (index, column) in table.columns.enumerated() {
                let cell = index < row.count ? row[index] : ""
                let name = column.isNumeric ? "number" : nil
                if index == 0 {
                    markup.element("th", ["scope": "row", "role": "rowheader", "class": name]) { $0.write(cell) }
                } else {
                    markup.element("td", ["role": "cell", "class": name, "data-label": column.heading]) {
                        $0.write(cell)
                    }
                }
            }
        }
        lineBreak()
    }

    /// Writes a collapsed text alternative of a plot.
    mutating func details(_ summary: String, _ content: (inout Markup) -> Void) {
        element("details") { markup in
            markup.element("summary", summary)
            content(&markup)
        }
    }
}

extension ReportTone {
    /// A sign with the same meaning as the colour.
    var sign: String {
        switch self {
        case .neutral: "•"
        case .good: "✓"
        case .attention: "!"
        case .bad: "✕"
        }
    }
}

/// Untrusted text, escaped for a page and kept visible.
enum MarkupText {
    /// True for characters that are invisible, change the direction of text, or are not allowed in XML.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else { return scalar.value < 0x20 || scalar.value == 0x7F }
        let properties = scalar.properties
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        // Joiners and tags are parts of letters and of emoji.
        case .format: ![0x200C, 0x200D].contains(scalar.value) && !(0xE0020...0xE007F).contains(scalar.value)
        default: properties.isNoncharacterCodePoint
        }
    }

    /// The text escaped for content and attributes; unsafe characters are written as `\u{…}`.
    static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
            case "'": result.append(contentsOf: "&#39;".unicodeScalars)
            default:
                if isUnsafe(scalar) {
                    let number = String(scalar.value, radix: 16, uppercase: true)
                    result.append(contentsOf: "\\u{\(number)}".unicodeScalars)
                } else {
                    result.append(scalar)
                }
            }
        }
        return String(result)
    }

    /// The text cut to `count` characters, with an ellipsis where it was cut.
    static func shortened(_ text: String, to count: Int) -> String {
        text.count <= count ? text : text.prefix(max(1, count - 1)) + "…"
    }
}
