import StoreFormat

/// What the index proof has to know of one index: its key columns, how they are ordered, and which rows it holds.
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
    /// The condition a row fulfils to be in the index, as SQL; nil when every row is.
    let condition: String?

    /// Nil when the proof by scan cannot express the index: it then needs SQLite's own check.
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
