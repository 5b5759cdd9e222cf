import StoreAccess
import StoreFormat
import StoreWriting
import Testing

/// Compares the history written by a test with the genuine history before it, column by column.
struct HistoryShape {
    private let written: WrittenStore

    init(_ written: WrittenStore) { self.written = written }

    func check() throws {
        guard written.writer.tracksHistory else { return }
        let first = try written.connection.value(
            "SELECT min(t.Z_PK) FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS "
                + "WHERE s.ZNAME = 'writer tests'"
        )
        let own = try #require(first?.integer)
        let transactions = try shapes(
            "ATRANSACTION",
            by: "1",
            ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"],
            own
        )
        #expect(transactions.written.subtracting(transactions.genuine).isEmpty || transactions.genuine.isEmpty)
        let changes = try shapes("ACHANGE", by: "ZCHANGETYPE", [], own)
        // A store may lack genuine changes of some kinds.
        for shape in changes.written where changes.genuine.contains(where: { $0.first == shape.first }) {
            #expect(changes.genuine.contains(shape), "\(shape) is none of \(changes.genuine)")
        }
        let history = try #require(PersistentHistory(schema: written.schema))
        try history.forEachChange(reading: written.connection, after: own - 1) { change in
            #expect(change.kind != .update || change.properties(in: written.layout) != nil)
        }
    }

    /// The storage classes of each column, grouped by a column, without `optional` columns.
    private func shapes(
        _ table: String,
        by group: String,
        _ optional: Set<String>,
        _ own: Int64
    ) throws -> (genuine: Set<[String]>, written: Set<[String]>) {
        let columns = written.schema.table(named: table)?.columns.map(\.name) ?? []
        // A tombstone contains values of the object itself, which differ.
        let compared = columns.filter { !optional.contains($0) && !$0.hasPrefix("ZTOMBSTONE") }
        let key = table == "ACHANGE" ? "ZTRANSACTIONID" : "Z_PK"
        let types = ([group] + compared.map { "typeof(\($0))" }).joined(separator: ", ")
        var (genuine, written): (Set<[String]>, Set<[String]>) = ([], [])
        try self.written.connection.forEachRow("SELECT DISTINCT \(key) >= \(own), \(types) FROM \(table)") { row in
            var shape: [String] = []
            for column in 1..<row.columnCount { shape.append(row.text(column) ?? String(row.integer(column))) }
            if row.integer(0) == 1 { written.insert(shape) } else { genuine.insert(shape) }
        }
        return (genuine, written)
    }
}
