import StoreAccess
import StoreFormat

/// The columns of one root's table that contain its objects' properties, and the meaning of each.
///
/// Both sides list them in the same order, regardless of their order in the table. The first three are key, entity and
/// version.
struct RowColumns {
    enum Meaning: Hashable {
        case attribute(String)
        /// An attribute whose bytes may be in a file: equal bytes may have different columns.
        case externalAttribute(AttributeDescription)
        /// The key of a partner; for an ordered relationship, the next column contains its position.
        case link(LinkRelation, isPlaced: Bool)
    }

    static let fixed = 3

    /// A column of one side, without a name if that side lacks it.
    private struct Column {
        let name: String?
        /// True if large values are read by reference.
        let byReference: Bool
    }

    let root: String
    /// The meaning of an entity's columns, by their positions.
    let meanings: [String: [(column: Int, meaning: Meaning)]]
    private let baseColumns: [Column]
    private let sideColumns: [Column]
    private let base: StoreConnection
    private let side: StoreConnection
    private let baseTable: String
    let sideTable: String

    /// Nil if one of the two stores has no table for the root.
    init?(_ root: String, base: MergeSide, side: MergeSide) {
        guard let baseTable = base.table(of: root), let sideTable = side.table(of: root) else { return nil }
        self.root = root
        self.base = base.connection
        self.side = side.connection
        self.baseTable = baseTable
        self.sideTable = sideTable
        var positions: [String: Int] = [:]
        var (baseColumns, sideColumns): ([Column], [Column]) = ([], [])
        var meanings: [String: [(column: Int, meaning: Meaning)]] = [:]
        /// The position of a property's columns, which an entity shares with its ancestors and descendants.
        func position(_ name: String, _ inBase: [String?], _ inSide: [String?], byReference: Bool = false) -> Int {
            if let known = positions[name] { return known }
            let position = Self.fixed + baseColumns.count
            positions[name] = position
            baseColumns += inBase.map { Column(name: $0, byReference: byReference) }
            sideColumns += inSide.map { Column(name: $0, byReference: byReference) }
            return position
        }
        for entity in side.layout.entities.values.filter({ $0.root == root }).sorted(by: { $0.number < $1.number }) {
            let former = base.layout.entities[entity.name]
            var found: [(column: Int, meaning: Meaning)] = []
            for attribute in entity.attributes where !attribute.description.isDerived {
                let name = attribute.description.name
                // A property that only one of the two stores has cannot have changed since the base.
                guard former?.attribute(name) != nil else { continue }
                let isExternal = attribute.description.allowsExternalBinaryDataStorage
                let column = position(
                    attribute.declaredBy + "." + name,
                    [former?.attribute(name)?.column],
                    [attribute.column],
                    byReference: !isExternal
                )
                found.append((column, isExternal ? .externalAttribute(attribute.description) : .attribute(name)))
            }
            let lineage = Set(side.layout.model.lineage(of: entity.name).map(\.name))
            for (relation, before) in zip(side.relations, base.relations) {
                guard case .column(let now, _, let order, let holder) = relation.storage,
                    case .column(let then, _, let formerOrder, _) = before.storage,
                    lineage.contains(relation[holder].entity)
                else { continue }
                let column = position("link \(relation.index)", [then, formerOrder], [now, order])
                found.append((column, .link(relation, isPlaced: order != nil)))
            }
            meanings[entity.name] = found
        }
        self.meanings = meanings
        self.baseColumns = baseColumns
        self.sideColumns = sideColumns
    }

    /// All rows in the order of their keys.
    func baseScan(_ byReference: Bool) -> String { baseQuery(byReference) + " ORDER BY Z_PK" }
    func sideScan(_ byReference: Bool) -> String { sideQuery(byReference) + " ORDER BY Z_PK" }
    /// The row of one key.
    func baseRow(_ byReference: Bool) -> String { baseQuery(byReference) + " WHERE Z_PK = ?" }
    func sideRow(_ byReference: Bool) -> String { sideQuery(byReference) + " WHERE Z_PK = ?" }

    func baseEntity(_ row: borrowing StoreRow, _ base: MergeSide) -> String? {
        base.layout.entity(ofRowNumbered: row.integer(1), inTable: baseTable)?.name
    }

    func sideEntity(_ row: borrowing StoreRow, _ side: MergeSide) -> String? {
        side.layout.entity(ofRowNumbered: row.integer(1), inTable: sideTable)?.name
    }

    private func baseQuery(_ byReference: Bool) -> String {
        Self.query(baseTable, baseColumns, byReference, in: base)
    }

    private func sideQuery(_ byReference: Bool) -> String {
        Self.query(sideTable, sideColumns, byReference, in: side)
    }

    private static func query(
        _ table: String,
        _ columns: [Column],
        _ byReference: Bool,
        in connection: StoreConnection
    ) -> String {
        let list = columns.map { column in
            guard let name = column.name else { return "NULL" }
            guard byReference, column.byReference else { return SQLName.quoted(name) }
            return connection.reference(to: name, of: table, rowID: "Z_PK")
        }
        return "SELECT " + (["Z_PK", "Z_ENT", "Z_OPT"] + list).joined(separator: ", ") + " FROM "
            + SQLName.quoted(table)
    }
}
