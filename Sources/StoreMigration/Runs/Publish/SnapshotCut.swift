import CSQLite
import SafeFiles
import StoreAccess
import StoreFormat

/// What a selection removes from a private copy of a store, as SQL that also proves the result.
struct SnapshotCut {
    /// What happens to the rows of one table.
    private struct TableCut {
        /// The condition of the rows that go.
        var gone: String?
        /// The new values of columns that change in the other rows.
        var values: [String: String] = [:]
        /// Columns of values that are derived from what goes: they are computed anew.
        var derived: [String: String] = [:]
        /// The columns that order the rows.
        var order: [String] = ["Z_PK"]

        /// True for pairs of objects.
        var isJoin: Bool { order.count > 1 }
    }

    private let layout: StoreLayout
    private let schema: StoreSchema
    private let path: String
    private let dropped: Set<String>
    private var tables: [String: TableCut] = [:]
    /// Relationships that must have a partner: the table, the condition of rows that would lose it, and the names.
    private var required: [(table: String, condition: String, entity: String, name: String, destination: String)] = []

    /// Resolves a selection against the store that `connection` reads; throws for names that its model lacks.
    init(_ selection: SnapshotSelection, of connection: StoreConnection, path: String) throws {
        guard let layout = try StoreLayout(reading: connection) else {
            throw Self.refusal("entities can only be left out of a Core Data store that contains its model", path)
        }
        self.layout = layout
        self.path = path
        schema = try StoreSchema(reading: connection)
        let model = layout.model
        func kinds(_ name: String) throws -> [String] {
            guard model.entitiesByName[name] != nil else { throw Self.refusal("there is no entity \(name)", path) }
            return model.entitiesByName.keys.filter { model.isEntity($0, kindOf: name) }
        }
        var (dropped, attributes): (Set<String>, [(entity: String, name: String)]) = ([], [])
        if !selection.only.isEmpty {
            dropped = Set(model.entitiesByName.keys).subtracting(try selection.only.flatMap(kinds))
        }
        for word in selection.without.sorted() {
            let parts = word.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if parts.count == 1 {
                dropped.formUnion(try kinds(word))
            } else {
                attributes += try kinds(parts[0]).map { ($0, parts[1]) }
            }
        }
        guard !dropped.isSuperset(of: model.entitiesByName.keys) else {
            throw Self.refusal("the selection leaves out every entity", path)
        }
        self.dropped = dropped
        for entity in layout.entities.values where dropped.contains(entity.name) {
            tables[entity.table, default: TableCut()].gone = gone(entity.table)
        }
        for entity in layout.entities.values.sorted(by: { $0.number < $1.number }) {
            for relationship in entity.relationships where relationship.declaredBy == entity.name {
                cut(relationship, of: entity)
            }
        }
        for (entity, name) in attributes { try cut(name, of: entity) }
        for entity in layout.entities.values where !dropped.contains(entity.name) {
            cutDerivations(
                of: entity,
                Set(attributes.filter { $0.entity == entity.name }.map(\.name)),
                Set(attributes.map(\.entity))
            )
        }
        try refuseVirtualCopies()
    }

    private static func refusal(
        _ message: String,
        _ path: String,
        _ advice: String = "Correct the selection."
    ) -> MigrationError {
        MigrationError(.usage, message, path: path, advice: "Nothing was published. " + advice)
    }

    // MARK: Resolving

    /// The condition of a table's rows that go; nil if all stay.
    private func gone(_ table: String) -> String? {
        let residents = layout.entities(inTable: table)
        let lost = residents.filter { dropped.contains($0.name) }
        if lost.isEmpty { return nil }
        return lost.count == residents.count
            ? "1" : "Z_ENT IN (\(lost.map { String($0.number) }.joined(separator: ", ")))"
    }

    /// The condition of an entity's rows in its table.
    private func rows(of entity: StoreLayout.Entity) -> String {
        // A table of one entity may have rows with another number.
        layout.entities(inTable: entity.table).count == 1 ? "1" : "Z_ENT = \(entity.number)"
    }

    /// The condition of rows whose `column` refers to a row of `table` that goes; nil if none can.
    private func refersToGone(_ column: String, _ table: String) -> String? {
        gone(table).map { "\(SQLName.quoted(column)) IN (SELECT Z_PK FROM \(SQLName.quoted(table)) WHERE \($0))" }
    }

    private mutating func cut(_ relationship: StoreLayout.Relationship, of entity: StoreLayout.Entity) {
        guard let destination = layout.entities[relationship.description.destination] else { return }
        switch relationship.storage {
        case .toOne(let key):
            guard let condition = refersToGone(key.column, destination.table) else { return }
            empty(key, of: entity.table, where: condition)
            if !relationship.description.isOptional {
                required.append(
                    (entity.table, condition, entity.name, relationship.description.name, destination.name)
                )
            }
        case .oneToMany(let table, let key):
            if let condition = refersToGone(key.column, entity.table) { empty(key, of: table, where: condition) }
        case .manyToMany(let table, let owner, let other):
            let conditions = [refersToGone(owner.column, entity.table), refersToGone(other.column, destination.table)]
                .compactMap(\.self)
            guard !conditions.isEmpty, tables[table] == nil else { return }
            tables[table] = TableCut(gone: conditions.joined(separator: " OR "), order: [owner.column, other.column])
        }
    }

    private mutating func empty(_ key: StoreLayout.ForeignKey, of table: String, where condition: String) {
        for column in [key.column, key.entityColumn, key.orderColumn].compactMap(\.self) {
            set("NULL", column, of: table, where: condition)
        }
    }

    private mutating func set(_ value: String, _ column: String, of table: String, where condition: String) {
        let former = tables[table]?.values[column] ?? SQLName.quoted(column)
        tables[table, default: TableCut()].values[column] = "CASE WHEN \(condition) THEN \(value) ELSE \(former) END"
    }

    private mutating func cut(_ name: String, of entity: String) throws {
        guard let stored = layout.entities[entity] else { return }
        guard let attribute = stored.attribute(name) else {
            throw Self.refusal("\(entity) has no attribute \(name) with a column", path)
        }
        guard attribute.description.isOptional || attribute.description.isDerived else {
            throw Self.refusal("\(entity).\(name) is required; leave out \(entity) as a whole", path)
        }
        set("NULL", attribute.column, of: stored.table, where: rows(of: stored))
    }

    /// Plans derived attributes that would show what is left out: counts are taken anew, others become empty.
    ///
    /// `lost` are the entity's own attributes that go, and `reduced` the entities of which attributes go.
    private mutating func cutDerivations(of entity: StoreLayout.Entity, _ lost: Set<String>, _ reduced: Set<String>) {
        let touched = dropped.union(reduced)
        let relationships = entity.relationships.filter { relationship in
            touched.contains { layout.model.isEntity($0, kindOf: relationship.description.destination) }
        }
        let names = lost.union(relationships.map(\.description.name))
        for attribute in entity.attributes where attribute.description.isDerived {
            let expression = attribute.description.derivationExpression ?? ""
            let words = expression.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "@") }.map(String.init)
            guard !names.isDisjoint(with: words) else { continue }
            let value = count(words, of: entity) ?? "NULL"
            let former = tables[entity.table]?.derived[attribute.column] ?? SQLName.quoted(attribute.column)
            tables[entity.table, default: TableCut()].derived[attribute.column] =
                "CASE WHEN \(rows(of: entity)) THEN \(value) ELSE \(former) END"
        }
    }

    /// The expression of the number of members of a one-to-many; nil for any other derivation.
    private func count(_ words: [String], of entity: StoreLayout.Entity) -> String? {
        guard words.count == 2, words[1] == "@count",
            case .oneToMany(let table, let key)? = entity.relationship(words[0])?.storage
        else { return nil }
        return "(SELECT count(*) FROM \(SQLName.quoted(table)) m WHERE m.\(SQLName.quoted(key.column)) = "
            + "\(SQLName.quoted(entity.table)).Z_PK)"
    }

    /// Refuses tables that triggers of a virtual table follow: triggers do not fire in the copy.
    private func refuseVirtualCopies() throws {
        let virtual = schema.tables.filter { if case .virtual = $0.kind { true } else { false } }
            .map { $0.name.lowercased() }
        for trigger in schema.triggers
        where tables.keys.contains(where: { $0.lowercased() == trigger.table.lowercased() }) {
            let words = Set(
                trigger.sql.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
            )
            if let index = virtual.first(where: words.contains) {
                throw Self.refusal(
                    "the virtual table \(index), which the trigger \(trigger.name) fills, may have values of \(trigger.table)"
                        + " that would be left out",
                    path,
                    "Publish all objects and attributes of that table: what a trigger copied cannot be left out."
                )
            }
        }
    }

    // MARK: Carrying out

    /// Removes what the selection leaves out from a private copy, and returns how many objects go.
    ///
    /// Free pages are removed as well: no value of a removed row remains in the file.
    func carryOut(in copy: StoreConnection, monitor: WorkMonitor) throws -> Int64 {
        var count: Int64 = 0
        for (table, condition, entity, name, destination) in required {
            let kept = gone(table).map { " AND NOT (\($0))" } ?? ""
            let sql = "SELECT count(*) FROM \(SQLName.quoted(table)) WHERE (\(condition))\(kept)"
            guard let empty = try copy.value(sql)?.integer, empty > 0 else { continue }
            throw Self.refusal(
                "\(empty) objects of \(entity) would lose their required \(name)",
                path,
                "Publish all of \(destination), or leave out \(entity) as well."
            )
        }
        try copy.stopping(by: monitor) {
            try copy.inTransaction(until: Deadline(after: .seconds(20))) {
                let cuts = tables.sorted { $0.key < $1.key }
                for (table, cut) in cuts { try update(table, cut.values, in: copy) }
                // Rows of join tables go first: their conditions read the rows that go.
                for (table, cut) in cuts.filter(\.value.isJoin) + cuts.filter({ !$0.value.isJoin }) {
                    guard let gone = cut.gone else { continue }
                    if !cut.isJoin {
                        count +=
                            try copy.value("SELECT count(*) FROM \(SQLName.quoted(table)) WHERE \(gone)")?.integer ?? 0
                    }
                    try copy.run("DELETE FROM \(SQLName.quoted(table)) WHERE \(gone)", [])
                }
                for (table, cut) in cuts { try update(table, cut.derived, in: copy) }
                try cutRecords(in: copy)
            }
            // SQLite attaches the file that it fills, and connections permit none.
            let limit = copy.withHandle { sqlite3_limit($0, SQLITE_LIMIT_ATTACHED, 1) }
            defer { _ = copy.withHandle { sqlite3_limit($0, SQLITE_LIMIT_ATTACHED, limit) } }
            try copy.execute("VACUUM")
        }
        return count
    }

    private func update(_ table: String, _ values: [String: String], in copy: StoreConnection) throws {
        guard !values.isEmpty else { return }
        let values = values.sorted { $0.key < $1.key }.map { (column: SQLName.quoted($0.key), value: $0.value) }
        try copy.run(
            "UPDATE \(SQLName.quoted(table)) SET \(values.map { "\($0.column) = \($0.value)" }.joined(separator: ", ")) "
                + "WHERE \(values.map { "\($0.column) IS NOT (\($0.value))" }.joined(separator: " OR "))",
            []
        )
    }

    /// Removes what Core Data's own tables know: history of the entities, preserved values, and CloudKit's copies.
    private func cutRecords(in copy: StoreConnection) throws {
        for table in schema.tables where table.name.uppercased().hasPrefix("ANSCK") {
            try copy.run("DELETE FROM \(SQLName.quoted(table.name))", [])
        }
        guard let changes = schema.table(named: "ACHANGE") else { return }
        let numbers = layout.entities.values.filter { dropped.contains($0.name) }.map { String($0.number) }
        try copy.run("DELETE FROM ACHANGE WHERE ZENTITY IN (\(numbers.joined(separator: ", ")))", [])
        let tombstones = changes.columns.map(\.name).filter { $0.uppercased().hasPrefix("ZTOMBSTONE") }
        guard !tombstones.isEmpty else { return }
        try copy.run(
            "UPDATE ACHANGE SET \(tombstones.map { "\(SQLName.quoted($0)) = NULL" }.joined(separator: ", "))",
            []
        )
    }

    // MARK: Proving

    /// Throws unless the copy has every row and value of the original that the selection keeps, and no other.
    func proveRest(of copy: StoreConnection, against original: StoreConnection, monitor: WorkMonitor) throws {
        for table in schema.tables where StoreDigest.covers(table) {
            try monitor.checkCancellation()
            guard !table.name.uppercased().hasPrefix("ANSCK"), table.name.uppercased() != "ACHANGE" else { continue }
            let isEqual: Bool
            if let cut = tables.first(where: { $0.key.lowercased() == table.name.lowercased() })?.value {
                let columns = table.columns.filter { !$0.isGenerated && cut.derived[$0.name] == nil }.map(\.name)
                let kept = cut.gone.map { " WHERE NOT (\($0))" } ?? ""
                func query(_ values: [String], _ rows: String) -> String {
                    "SELECT \(values.joined(separator: ", ")) FROM \(SQLName.quoted(table.name))\(rows) "
                        + "ORDER BY \(cut.order.map(SQLName.quoted).joined(separator: ", "))"
                }
                let wanted = query(columns.map { cut.values[$0] ?? SQLName.quoted($0) }, kept)
                isEqual =
                    try Self.digest(wanted, in: original, monitor)
                    == Self.digest(query(columns.map(SQLName.quoted), ""), in: copy, monitor)
            } else {
                isEqual =
                    try StoreDigest.digest(of: table, in: original, monitor: monitor)
                    == StoreDigest.digest(of: table, in: copy, monitor: monitor)
            }
            guard isEqual else {
                throw MigrationError(
                    .verificationFailed,
                    "the snapshot's rows of \(table.name) differ from those of the store that it should have",
                    path: path
                )
            }
        }
    }

    private static func digest(_ query: String, in connection: StoreConnection, _ monitor: WorkMonitor) throws -> String
    {
        var hash = SHA256()
        func add(_ kind: UInt8, _ bytes: UnsafeRawBufferPointer) {
            withUnsafeBytes(of: kind) { hash.update($0) }
            withUnsafeBytes(of: bytes.count) { hash.update($0) }
            hash.update(bytes)
        }
        try connection.stopping(by: monitor) {
            try connection.forEachRow(query) { row in
                for column in 0..<row.columnCount {
                    switch row.value(column) {
                    case .null: add(0, UnsafeRawBufferPointer(start: nil, count: 0))
                    case .integer(let number): withUnsafeBytes(of: number) { add(1, $0) }
                    case .real(let number): withUnsafeBytes(of: number) { add(2, $0) }
                    case .text(let text): text.withBytes { bytes, _ in add(3, UnsafeRawBufferPointer(bytes)) }
                    case .blob(let bytes): bytes.withUnsafeBytes { add(4, $0) }
                    case .large:
                        preconditionFailure("large values are read by reference only where a query asks for it")
                    }
                }
            }
        }
        return hash.hexadecimal
    }

    /// The external files that the rows of a copy refer to.
    func externalFiles(of copy: StoreConnection) throws -> Set<String> {
        var names: Set<String> = []
        for query in layout.externalFileQueries {
            try copy.forEachRow(query) { row in if let name = row.text(0) { names.insert(name) } }
        }
        return names
    }
}
