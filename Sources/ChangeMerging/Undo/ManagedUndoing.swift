import StoreAccess
import StoreFormat
import StoreWriting

/// The versions and the history of a merge that is rolled back in a Core Data store.
final class ManagedUndoing {
    let writer: RowWriter
    private let schema: StoreSchema
    private let columns: [String: [String]]
    private var referencesOfTables: [String: [(table: String, column: String)]] = [:]
    /// Large values that history keeps of objects that are deleted, by table, key and column.
    private var tombstones: [String: [Int64: [String: SQLValue]]] = [:]

    init(writer: RowWriter, schema: StoreSchema) {
        self.writer = writer
        self.schema = schema
        columns = Dictionary(
            schema.tables.map { ($0.name, $0.columns.filter { !$0.isGenerated }.map(\.name)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Runs `body` without the triggers that derive values, since the record contains those values.
    ///
    /// Triggers of spatial indexes stay.
    func withoutDerivingTriggers(_ body: () throws -> Void) throws {
        let virtual = schema.tables.filter { if case .virtual = $0.kind { true } else { false } }.map(\.name)
        let deriving = schema.triggers.filter { trigger in
            !trigger.name.hasPrefix(StoreFence.prefix) && !virtual.contains { trigger.sql.contains($0) }
        }
        try writer.holding(deriving, body)
    }

    /// True for a row that the model does not describe.
    func isOutside(_ change: RecordedChange) -> Bool {
        writer.layout.entities(inTable: change.table).isEmpty
            && !writer.layout.joinTables.contains { $0.name.lowercased() == change.table.lowercased() }
    }

    /// The name of an object in messages: its entity and key.
    func name(of change: RecordedChange) -> String {
        guard let entity = try? entity(of: change), case .integer(let key)? = change.key.first else {
            return "a row of the table \(change.table)"
        }
        return "an object of \(entity.name) (p\(key))"
    }

    /// Throws if an object that the rollback removed is still a destination, of an object that was written later.
    ///
    /// Call it when all rows are restored.
    func requireNoReference(to change: RecordedChange) throws {
        guard change.kind == .delete, let key = change.key.first else { return }
        for (table, column) in references(to: change.table) {
            let query = "SELECT 1 FROM \(SQLName.quoted(table)) WHERE \(SQLName.quoted(column)) = ? LIMIT 1"
            guard try writer.connection.value(query, [key]) != nil else { continue }
            throw StoreError(
                .changedMeanwhile,
                path: writer.connection.location.path,
                "cannot roll back the merge: \(name(of: change)) is the destination of a later object's relationship"
            )
        }
    }

    /// The columns with keys of a table's objects.
    private func references(to table: String) -> [(table: String, column: String)] {
        if let known = referencesOfTables[table] { return known }
        let layout = writer.layout
        func isHere(_ entity: String?) -> Bool { entity.flatMap { layout.entities[$0] }?.table == table }
        var found: Set<[String]> = []
        for entity in layout.entities.values {
            for relationship in entity.relationships where isHere(relationship.description.destination) {
                guard case .toOne(let place) = relationship.storage else { continue }
                found.insert([entity.table, place.column])
            }
        }
        for join in layout.joinTables {
            for side in [join.first, join.second] where isHere(side.entity) { found.insert([join.name, side.column]) }
        }
        let references = found.sorted { $0.lexicographicallyPrecedes($1) }.map { (table: $0[0], column: $0[1]) }
        referencesOfTables[table] = references
        return references
    }

    /// Raises the version of an object, and lists it in history; false if the change is not of an object.
    func finish(_ change: RecordedChange) throws -> Bool {
        guard let primaryKey = change.key.first?.integer, let entity = try entity(of: change) else { return false }
        let key = ObjectKey(entity: entity.name, primaryKey: primaryKey)
        let names = columns[change.table] ?? []
        switch change.kind {
        case .insert:
            try setVersion(of: change, after: value("Z_OPT", change.after, names))
            writer.list(key, as: .insert)
        case .update:
            try setVersion(of: change, after: value("Z_OPT", change.before, names))
            let changed = Set(change.columns.compactMap { names.indices.contains($0) ? names[$0] : nil })
            var slots: Set<HistorySlots.Slot> = [.oneToMany, .manyToMany]
            for attribute in entity.attributes where changed.contains(attribute.column) {
                slots.insert(.property(attribute.description.name))
            }
            for relationship in entity.relationships {
                guard case .toOne(let place) = relationship.storage,
                    [place.column, place.entityColumn, place.orderColumn]
                        .contains(where: { $0.map(changed.contains) == true })
                else { continue }
                slots.insert(.property(relationship.description.name))
            }
            writer.list(key, as: .update, changing: slots)
        case .delete:
            let tombstone = entity.tombstoneAttributes.map { name in
                entity.attribute(name)
                    .flatMap {
                        tombstones[change.table]?[primaryKey]?[$0.column] ?? value($0.column, change.before, names)
                    } ?? .null
            }
            writer.list(key, as: .delete, tombstone: tombstone)
        }
        return true
    }

    /// Sets a version after the last one that any reader may have seen.
    private func setVersion(of change: RecordedChange, after version: SQLValue?) throws {
        guard let key = change.key.first else { return }
        let table = SQLName.quoted(change.table)
        let last = version?.integer ?? 0
        try writer.connection.run(
            "UPDATE \(table) SET Z_OPT = max(ifnull(Z_OPT, 0), ?) + 1 WHERE Z_PK = ?",
            [.integer(last < Int64.max ? last : 0), key]
        )
    }

    private func value(_ column: String, _ row: [SQLValue?], _ names: [String]) -> SQLValue? {
        guard let index = names.firstIndex(of: column), row.indices.contains(index) else { return nil }
        return row[index]
    }

    /// Lists the large values of an object that is restored; false if the row is not of an object.
    ///
    /// Call it before the values are removed: history keeps some of them when an object is deleted.
    func list(_ row: UnkeyedRow) throws -> Bool {
        guard row.isInPlace, row.keyColumns == ["Z_PK"], !writer.layout.entities(inTable: row.table).isEmpty else {
            return false
        }
        guard let after = row.after?.first, case .whole(.integer(let key)) = after else { return true }
        let table = SQLName.quoted(row.table)
        let number = try writer.connection.value("SELECT Z_ENT FROM \(table) WHERE Z_PK = ?", [.integer(key)])
        guard let entity = writer.layout.entity(ofRowNumbered: number?.integer ?? 0, inTable: row.table) else {
            return true
        }
        let attributes = entity.attributes.filter { row.columns.contains($0.column) }
        guard row.before == nil else {
            let slots = attributes.map { HistorySlots.Slot.property($0.description.name) }
            writer.list(ObjectKey(entity: entity.name, primaryKey: key), as: .update, changing: Set(slots))
            return true
        }
        for attribute in attributes where entity.tombstoneAttributes.contains(attribute.description.name) {
            let query = "SELECT \(SQLName.quoted(attribute.column)) FROM \(table) WHERE Z_PK = ?"
            let value = try writer.connection.value(query, [.integer(key)])
            tombstones[row.table, default: [:]][key, default: [:]][attribute.column] = value
        }
        return true
    }

    private func entity(of change: RecordedChange) throws -> StoreLayout.Entity? {
        let names = columns[change.table] ?? []
        guard names.contains("Z_ENT"), names.contains("Z_PK"), let key = change.key.first else { return nil }
        let row = change.kind == .insert ? change.after : change.before
        var number = value("Z_ENT", row, names)
        if number == nil {
            let sql = "SELECT Z_ENT FROM \(SQLName.quoted(change.table)) WHERE Z_PK = ?"
            number = try writer.connection.value(sql, [key])
        }
        return writer.layout.entity(ofRowNumbered: number?.integer ?? 0, inTable: change.table)
    }
}
