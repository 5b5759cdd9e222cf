/// A table; the first cell of a row names the row.
public struct ReportTable: Hashable, Sendable {
    /// A column's heading, and how its cells are set.
    public struct Column: Hashable, Sendable, ExpressibleByStringLiteral {
        public var heading: String
        /// True for figures, which stand at the right.
        public var isNumeric: Bool

        public init(_ heading: String, isNumeric: Bool = false) {
            self.heading = heading
            self.isNumeric = isNumeric
        }

        public init(stringLiteral heading: String) { self.init(heading) }
    }

    /// What the table shows, in a few words.
    public var caption: String
    public var columns: [Column]
    /// A row has a cell for each column; further cells are left out, and missing ones stay empty.
    public var rows: [[ReportCell]]

    public init(_ caption: String, columns: [Column], rows: [[ReportCell]]) {
        self.caption = caption
        self.columns = columns
        self.rows = rows
    }
}
