import FoundationEssentials
import ManagedObjects
import StoreFormat

/// Objects as table rows, printed line by line: the first rows set the column widths.
struct ObjectTable {
    private static let rowsThatDecide = 100
    private static let cellEnd: Character = "\u{1F}"

    private let widestCell: Int
    private var waiting: [[String]] = []
    private var columns: [String] = []
    private var widths: [Int] = []

    init(widestCell: Int = 40) { self.widestCell = widestCell }

    /// An object as one string.
    static func row(_ object: FetchedObject) -> String {
        let cells = [("object", "\(object.objectID.entityName)/p\(object.objectID.uriRepresentation().keyText)")]
        return row(cells + object.properties.map { ($0.name, $0.value.text) })
    }

    /// Columns and their values as one escaped string.
    static func row(_ cells: [(column: String, text: String)]) -> String {
        cells.flatMap { [Escaped.text($0.column), Escaped.text($0.text)] }.joined(separator: String(cellEnd))
    }

    /// Adds a row, and returns the lines that are ready to print.
    mutating func lines(adding row: String) -> [String] {
        let cells = row.split(separator: Self.cellEnd, omittingEmptySubsequences: false).map(String.init)
        guard columns.isEmpty else { return [line(cells)] }
        waiting.append(cells)
        return waiting.count < Self.rowsThatDecide ? [] : remainingLines()
    }

    /// The buffered lines, with the widths set from them.
    mutating func remainingLines() -> [String] {
        guard !waiting.isEmpty else { return [] }
        for cells in waiting {
            for index in stride(from: 0, to: cells.count - 1, by: 2) {
                let column = columns.firstIndex(of: cells[index]) ?? columns.endIndex
                if column == columns.endIndex {
                    columns.append(cells[index])
                    widths.append(cells[index].count)
                }
                widths[column] = max(widths[column], shortened(cells[index + 1]).count)
            }
        }
        let lines = [line(columns.flatMap { [$0, $0] })] + waiting.map(line)
        waiting = []
        return lines
    }

    private func line(_ cells: [String]) -> String {
        var row = columns.map { _ in "" }
        var rest = ""
        for index in stride(from: 0, to: cells.count - 1, by: 2) {
            if let column = columns.firstIndex(of: cells[index]) {
                row[column] = shortened(cells[index + 1])
            } else {
                rest += "  \(cells[index]): \(shortened(cells[index + 1]))"
            }
        }
        var text = zip(row, widths).map { Figures.padded($0, to: $1) }.joined(separator: "  ") + rest
        while text.last == " " { text.removeLast() }
        return text
    }

    private func shortened(_ text: String) -> String {
        text.count <= widestCell ? text : text.prefix(widestCell - 1) + "…"
    }
}

extension String {
    /// The key at the end of an object's URI.
    fileprivate var keyText: Substring { self[(lastIndex(of: "p").map(index(after:)) ?? startIndex)...] }
}

extension PredicateConstant {
    /// The value as text; empty for nil.
    fileprivate var text: String {
        switch self {
        case .object(let id): "\(id.entityName)/p\(id.uriRepresentation().keyText)"
        case .value(.null): ""
        case .value(.data(let data)): Figures.bytes(Int64(data.count))
        case .value(.externalData): "(in a file)"
        default:
            switch record {
            case .string(let text): text
            case let value: value.text
            }
        }
    }
}

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
