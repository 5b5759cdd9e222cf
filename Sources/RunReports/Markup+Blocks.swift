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
