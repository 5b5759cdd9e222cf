import StoreFormat

/// The statements that scan one table and its indexes.
struct IndexProofPlan {
    let table: String
    let shapes: [IndexShape]
    /// A name of the row's number, quoted.
    private let rowID: String

    /// Nil when the table or one of its indexes needs SQLite's own check.
    init?(_ table: StoreSchema.Table) {
        guard let rowID = table.rowIDName else { return nil }
        var shapes: [IndexShape] = []
        for index in table.indexes {
            guard let shape = IndexShape(index, of: table) else { return nil }
            shapes.append(shape)
        }
        self.table = table.name
        self.shapes = shapes
        self.rowID = SQLName.quoted(rowID)
    }

    var greatestRowNumber: String { "SELECT max(\(rowID)) FROM \(SQLName.quoted(table)) NOT INDEXED" }

    /// Reads the number of every row and the given expressions from the table itself.
    func tableScan(_ columns: [String]) -> String {
        "SELECT " + ([rowID] + columns).joined(separator: ", ") + " FROM \(SQLName.quoted(table)) NOT INDEXED"
    }

    /// Reads the row's number and the key of every entry from the index itself, in its order.
    func indexScan(_ shape: IndexShape) -> String {
        let columns = [rowID] + shape.columns.map { SQLName.quoted($0.name) }
        let condition = shape.condition.map { " WHERE \($0)" } ?? ""
        return "SELECT " + columns.joined(separator: ", ")
            + " FROM \(SQLName.quoted(table)) INDEXED BY \(SQLName.quoted(shape.name))" + condition
    }
}
