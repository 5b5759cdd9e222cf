import StoreFormat

/// The definition of one index for the index proof: its key columns, their order, and the rows that it contains.
struct IndexShape {
    /// How SQLite compares text in one column of an index.
    enum Collation {
        case binary
        case noCase
        case rightTrim

        init?(named name: String) {
            switch name.uppercased() {
            case "BINARY": self = .binary
            case "NOCASE": self = .noCase
            case "RTRIM": self = .rightTrim
            default: return nil
            }
        }
    }

    /// One column of the key.
    struct KeyColumn {
        let name: String
        let isDescending: Bool
        let collation: Collation
    }

    let name: String
    let isUnique: Bool
    let columns: [KeyColumn]
    /// The condition of a partial index, as SQL; nil for an index of every row.
    let condition: String?

    /// Nil when a scan cannot prove the index: it then needs SQLite's own check.
    init?(_ index: StoreSchema.Index, of table: StoreSchema.Table) {
        var columns: [KeyColumn] = []
        for column in index.columns {
            guard let name = column.name, name != table.rowIDAlias,
                let collation = Collation(named: column.collation),
                let declared = table.column(named: name), !declared.isGenerated
            else { return nil }
            columns.append(KeyColumn(name: name, isDescending: column.isDescending, collation: collation))
        }
        guard !columns.isEmpty else { return nil }
        if index.isPartial {
            guard let condition = index.sql.flatMap(PartialIndexCondition.init(of:)) else { return nil }
            self.condition = condition.sql
        } else {
            condition = nil
        }
        name = index.name
        isUnique = index.isUnique
        self.columns = columns
    }
}
