/// Rows of words in aligned columns.
enum TextTable {
    /// The rows, indented by two, each column as wide as its widest word; the last column is never padded.
    static func text(_ rows: [[String]]) -> String {
        var widths: [Int] = []
        for row in rows {
            for (column, word) in row.enumerated().dropLast() {
                while widths.count <= column { widths.append(0) }
                widths[column] = max(widths[column], word.count)
            }
        }
        return
            rows.map { row in
                let words = row.enumerated()
                    .map { column, word in
                        column == row.count - 1 ? word : Figures.padded(word, to: widths[column])
                    }
                return "  " + words.joined(separator: "  ")
            }
            .joined(separator: "\n")
    }
}
