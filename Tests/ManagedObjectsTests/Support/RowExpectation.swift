import StoreAccess
import StoreFormat

/// The row changes expected for an edit, computed from the tables and the model alone.
struct RowExpectation {
    enum Kind: String { case attribute, toOne, addition, insertion, deletion }

    private(set) var rows: [PlainReading.Row: RowChanges.Fate] = [:]
    private(set) var joins: [String: [[Int64]: RowChanges.Fate]] = [:]

    private static let version: Set<String> = ["Z_OPT"]

    init(insertionOf entity: String, _ before: PlainReading) {
        let table = before.names.table(of: entity)
        let recorded = before.tables.rows(of: "Z_PRIMARYKEY")
            .first { $0.values["Z_NAME"]?.text == before.names.root(entity) }?
            .values["Z_MAX"]?
            .integer
        let greatest = max(recorded ?? 0, before.tables.tables[table]?.rows.keys.max() ?? 0)
        rows[PlainReading.Row(table: table, key: greatest + 1)] = .came
    }

    init(attribute name: String, of row: PlainReading.Row, _ entity: String, _ before: PlainReading) {
        rows[row] = .changed(Self.version.union([before.names.column(entity, name)].compactMap { $0 }))
    }

    /// A changed to-one relationship also changes its inverse, and clears a former owner's reference.
    init(
        toOne name: String,
        of row: PlainReading.Row,
        _ entity: String,
        leadingTo new: Int64?,
        _ before: PlainReading
    ) throws {
        guard let relationship = before.names.relationship(entity, name), let place = before.names.toOne(entity, name)
        else { return }
        let table = before.names.table(of: relationship.destination)
        let old = before.tables.value(place.column, of: row.key, in: row.table).integer
        set(place, of: row, to: new.map { PlainReading.Row(table: table, key: $0) }, before)
        guard let inverse = relationship.inverse else { return }
        for (key, isNew) in [(old, false), (new, true)] {
            guard let key, before.tables.tables[table]?.rows[key] != nil else { continue }
            let destination = PlainReading.Row(table: table, key: key)
            guard let concrete = before.entity(of: destination),
                let back = before.names.relationship(concrete, inverse)
            else { continue }
            guard !back.isToMany, let there = before.names.toOne(concrete, inverse) else {
                touch(destination)
                continue
            }
            let led = before.tables.value(there.column, of: key, in: table).integer
            if isNew {
                set(there, of: destination, to: row, before)
                if let led, led != row.key { unset(place, of: PlainReading.Row(table: row.table, key: led), before) }
            } else if led == row.key {
                unset(there, of: destination, before)
            }
        }
    }

    /// A new pair in a join table changes both ends.
    init(
        adding member: Int64,
        to name: String,
        of row: PlainReading.Row,
        _ entity: String,
        _ before: PlainReading
    ) throws {
        guard let relationship = before.names.relationship(entity, name), let join = before.names.join(entity, name)
        else { return }
        touch(row)
        touch(PlainReading.Row(table: before.names.table(of: relationship.destination), key: member))
        let columns = (before.tables.tables[join.table]?.columns ?? []).filter { !$0.hasPrefix("Z_FOK") }
        joins[join.table] = [columns.map { $0 == join.owner ? row.key : member }: .came]
    }

    /// A deletion cascades by the delete rules and clears all references.
    init(deletionOf row: PlainReading.Row, _ before: PlainReading) {
        var gone: [PlainReading.Row] = [row]
        var next = 0
        while next < gone.count {
            for (relationship, destinations) in Self.destinations(of: gone[next], before)
            where relationship.deleteRule == .cascade {
                gone += destinations.filter { !gone.contains($0) }
            }
            next += 1
        }
        for row in gone { rows[row] = .went }
        for row in gone {
            guard let entity = before.entity(of: row) else { continue }
            for (relationship, destinations) in Self.destinations(of: row, before)
            where relationship.deleteRule != .noAction {
                let hidden = before.names.hiddenColumn(entity, relationship.name)
                for destination in destinations where rows[destination] != .went {
                    let inverse = relationship.inverse.flatMap { name in
                        before.entity(of: destination).flatMap { before.names.relationship($0, name) }
                    }
                    if let hidden {
                        change(destination, [hidden])
                    } else if inverse?.isToMany == true {
                        touch(destination)
                    }
                }
                removePairs(of: row, entity, relationship, before)
            }
        }
        // References to deleted objects are cleared, with or without an inverse.
        for entity in before.names.model.entitiesByName.values {
            for relationship in entity.relationships where !relationship.isToMany {
                guard let place = before.names.toOne(entity.name, relationship.name) else { continue }
                let table = before.names.table(of: relationship.destination)
                for key in before.keys(ofAll: entity.name) {
                    let row = PlainReading.Row(table: before.names.table(of: entity.name), key: key)
                    guard rows[row] != .went,
                        let led = before.tables.value(place.column, of: key, in: row.table).integer,
                        rows[PlainReading.Row(table: table, key: led)] == .went
                    else { continue }
                    unset(place, of: row, before)
                }
            }
        }
    }

    private static func destinations(
        of row: PlainReading.Row,
        _ before: PlainReading
    ) -> [(RelationshipDescription, [PlainReading.Row])] {
        guard let entity = before.entity(of: row) else { return [] }
        return before.names.relationships(entity)
            .map { relationship in
                let table = before.names.table(of: relationship.destination)
                let keys = before.destinations(of: row.key, entity, relationship) ?? []
                return (
                    relationship,
                    keys.filter { before.tables.tables[table]?.rows[$0] != nil }
                        .map { PlainReading.Row(table: table, key: $0) }
                )
            }
    }

    private mutating func removePairs(
        of row: PlainReading.Row,
        _ entity: String,
        _ relationship: RelationshipDescription,
        _ before: PlainReading
    ) {
        guard relationship.isToMany, let join = before.names.join(entity, relationship.name) else { return }
        let columns = (before.tables.tables[join.table]?.columns ?? []).filter { !$0.hasPrefix("Z_FOK") }
        for pair in before.tables.rows(of: join.table) {
            guard
                pair.values[join.owner] == .integer(row.key)
                    || join.isReflexive && pair.values[join.member] == .integer(row.key)
            else { continue }
            joins[join.table, default: [:]][columns.map { pair.values[$0]?.integer ?? 0 }] = .went
        }
    }

    // MARK: Rows

    private mutating func touch(_ row: PlainReading.Row) { change(row, []) }

    private mutating func change(_ row: PlainReading.Row, _ columns: Set<String>) {
        switch rows[row] {
        case .went, .came: break
        case .changed(let known): rows[row] = .changed(known.union(columns))
        case nil: rows[row] = .changed(columns.union(Self.version))
        }
    }

    private mutating func unset(_ place: PlainNames.ToOne, of row: PlainReading.Row, _ before: PlainReading) {
        set(place, of: row, to: nil, before)
    }

    /// The foreign key changes, and its entity and order columns if their values differ.
    private mutating func set(
        _ place: PlainNames.ToOne,
        of row: PlainReading.Row,
        to destination: PlainReading.Row?,
        _ before: PlainReading
    ) {
        var columns: Set<String> = [place.column]
        func differs(_ column: String, _ value: SQLValue) -> Bool {
            before.tables.value(column, of: row.key, in: row.table) != value
        }
        if let column = place.entityColumn {
            let number = destination.flatMap(before.entity(of:)).flatMap { before.names.numbers[$0] }
            if differs(column, number.map(SQLValue.integer) ?? .null) { columns.insert(column) }
        }
        if let column = place.orderColumn {
            let last = destination.flatMap { destination in
                before.tables.rows(of: row.table).filter { $0.values[place.column] == .integer(destination.key) }
                    .compactMap { $0.values[column]?.integer }.max() ?? 0
            }
            if differs(column, last.map { .integer($0 + 1024) } ?? .null) { columns.insert(column) }
        }
        change(row, columns)
    }
}
