import StoreAccess
import StoreFormat
import StoreWriting

/// The SQL that makes the rows of one join table of the target.
struct JoinMapping {
    let table: StoreLayout.JoinTable
    /// The source's join table, if the rows come from one.
    let former: StoreLayout.JoinTable?
    /// The statement that returns the two keys and the two order keys of each row; nil for a new relationship.
    let selection: String?
    private let survivors: [String]

    init(_ plan: MigrationPlan, _ table: StoreLayout.JoinTable) {
        self.table = table
        var former: StoreLayout.JoinTable?
        var selections: Set<String> = []
        var survivors: [String] = []
        for (side, back, isReversed) in [(table.first, table.second, false), (table.second, table.first, true)]
        where selections.isEmpty {
            for name in plan.targetHierarchy.subtree(of: side.entity).sorted() {
                guard let entity = plan.layout.entities[name], let mapped = plan.mapping.entity(entity.name),
                    let relationship = mapped.relationship(side.relationship),
                    let owner = mapped.source.flatMap({ plan.source.layout.entities[$0] }),
                    let stored = relationship.source.flatMap({ owner.relationship($0.name) })
                else { continue }
                let rows = Self.rows(of: stored, owner, plan, (side.entity, back.entity), isReversed: isReversed)
                selections.insert(rows.sql)
                if case .manyToMany(let name, _, _) = stored.storage {
                    former = plan.source.layout.joinTables.first { $0.name == name }
                }
                survivors = rows.survivors
            }
            if table.isReflexive { break }
        }
        self.former = former
        selection = selections.isEmpty ? nil : selections.sorted().joined(separator: " UNION ")
        self.survivors = survivors
    }

    /// The pairs of a source relationship as the columns `one`, `other`, `place` and `back`: `place` orders the members
    /// of `one`, and `back` those of `other`.
    private static func rows(
        of stored: StoreLayout.Relationship,
        _ owner: StoreLayout.Entity,
        _ plan: MigrationPlan,
        _ kinds: (owner: String, member: String),
        isReversed: Bool
    ) -> (sql: String, survivors: [String]) {
        func quoted(_ name: String?) -> String { name.map(SQLName.quoted) ?? "NULL" }
        let names = isReversed ? ["other", "one", "back", "place"] : ["one", "other", "place", "back"]
        var columns: [String]
        let table: String
        var condition = ""
        switch stored.storage {
        case .manyToMany(let name, let side, let other):
            columns = [quoted(side.column), quoted(other.column), quoted(side.orderColumn), quoted(other.orderColumn)]
            table = name
        case .toOne(let key):
            columns = ["Z_PK", quoted(key.column), "NULL", quoted(key.orderColumn)]
            table = owner.table
            condition = " WHERE \(quoted(key.column)) NOT NULL"
        case .oneToMany(let name, let key):
            columns = [quoted(key.column), "Z_PK", quoted(key.orderColumn), "NULL"]
            table = name
            condition = " WHERE \(quoted(key.column)) NOT NULL"
        }
        let list = zip(columns, names).sorted { $0.1 < $1.1 }.map { "\($0) AS \($1)" }.joined(separator: ", ")
        let destination = plan.source.layout.entities[stored.description.destination]?.table ?? owner.table
        let (one, other) = isReversed ? ("other", "one") : ("one", "other")
        let ends = [
            (one, owner.table, plan.lost(from: stored.declaredBy, to: kinds.owner)),
            (other, destination, plan.lost(from: stored.description.destination, to: kinds.member)),
        ]
        let survivors = ends.compactMap { name, table, lost -> String? in
            guard !lost.isEmpty else { return nil }
            let numbers = lost.map(String.init).joined(separator: ", ")
            return "\(name) NOT IN (SELECT Z_PK FROM \(SQLName.quoted(table)) WHERE Z_ENT IN (\(numbers)))"
        }
        return ("SELECT \(list) FROM \(SQLName.quoted(table))\(condition)", survivors)
    }

    /// True if the source's table may stay as it is.
    var isUnchanged: Bool { former == table && survivors.isEmpty }

    /// The statement that fills the table `name`; nil if it stays empty.
    func insertion(into name: String) -> String? {
        guard let selection else { return nil }
        var columns = [(table.first.column, "one"), (table.second.column, "other")]
        if let column = table.first.orderColumn {
            columns.append((column, Self.place("place", of: "one", by: "other")))
        }
        if let column = table.second.orderColumn, !table.isReflexive {
            columns.append((column, Self.place("back", of: "other", by: "one")))
        }
        let names = columns.map { SQLName.quoted($0.0) }.joined(separator: ", ")
        let values = columns.map(\.1).joined(separator: ", ")
        let condition = survivors.isEmpty ? "" : " WHERE " + survivors.joined(separator: " AND ")
        return "INSERT INTO \(SQLName.quoted(name)) (\(names)) SELECT \(values) FROM (\(selection))\(condition)"
    }

    /// The order key of the source, or one by primary key.
    private static func place(_ place: String, of owner: String, by member: String) -> String {
        "ifnull(\(place), row_number() OVER (PARTITION BY \(owner) ORDER BY \(member)) * 1024)"
    }
}
