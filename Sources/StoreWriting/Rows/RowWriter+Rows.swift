import CSQLite
package import StoreFormat

extension RowWriter {
    /// Returns the object that a key leads to, under its concrete entity; nil when there is none.
    ///
    /// The entity given may be any of the object's line, as in a URI. Throws where the row of the key is of no entity of its
    /// table: it is there, and nobody's to write.
    package func object(_ entity: String, _ primaryKey: Int64) throws -> ObjectKey? {
        let entity = try self.entity(entity)
        let number = try connection.value(
            "SELECT Z_ENT FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
            [.integer(primaryKey)]
        )
        guard let number else { return nil }
        guard let found = layout.entity(ofRowNumbered: number.integer ?? 0, inTable: entity.table) else {
            throw damaged("a row of \(entity.table) bears the number of no entity of that table, and is not written")
        }
        return ObjectKey(entity: found.name, primaryKey: primaryKey)
    }

    /// Returns the version (`Z_OPT`) of an object as it stands, this save's changes included; nil when it is gone.
    package func version(of key: ObjectKey) throws -> Int64? {
        let plan = try plan(of: key.entity)
        let version = try connection.value(
            "SELECT ifnull(Z_OPT, 0) FROM \(SQLName.quoted(plan.entity.table)) WHERE \(plan.rowCondition)",
            [.integer(key.primaryKey)]
        )
        return version?.integer
    }

    /// Returns what stands against writing an object that was read at `version`; nil when nothing does.
    ///
    /// What this save itself did to the object is no conflict. The write lock must be held, or the answer may be overtaken.
    package func conflict(over key: ObjectKey, expecting version: Int64) throws -> VersionConflict? {
        if changes.hasInserted(key) || changes.hasDeleted(key) { return nil }
        guard let current = try self.version(of: key) else {
            _ = try object(key.entity, key.primaryKey)
            return VersionConflict(object: key, expected: version, found: nil)
        }
        let found = changes.hasUpdated(key) ? current &- 1 : current
        return found == version ? nil : VersionConflict(object: key, expected: version, found: found)
    }

    /// Notes the file that an attribute refers to as one to be removed after the commit.
    func abandonFile(of key: ObjectKey, _ entity: StoreLayout.Entity, _ attribute: StoreLayout.Attribute) throws {
        let stored = try connection.value(
            "SELECT \(SQLName.quoted(attribute.column)) FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
            [.integer(key.primaryKey)]
        )
        if let name = stored?.blob.flatMap(ExternalDataWriter.fileName) { abandonedFiles.append(name) }
    }

    func encoded(_ value: SQLValue, for attribute: StoreLayout.Attribute, of key: ObjectKey) throws -> SQLValue {
        try AttributeEncoding.column(value, for: attribute.description, of: key.entity, external: external)
    }

    /// Runs a statement that writes the row of `key`; a uniqueness constraint that refuses it is reported as such.
    func write(_ sql: String, _ arguments: [SQLValue], of key: ObjectKey) throws {
        do {
            try connection.run(sql, arguments)
        } catch {
            guard connection.withHandle({ sqlite3_extended_errcode($0) }) == Self.uniqueConstraint,
                sql.hasPrefix("INSERT") || sql.hasPrefix("UPDATE")
            else { throw error }
            throw try uniquenessConflict(sql, arguments, of: key)
        }
    }

    /// `SQLITE_CONSTRAINT_UNIQUE`, a macro that Swift does not import.
    private static let uniqueConstraint: Int32 = SQLITE_CONSTRAINT | (8 << 8)

    /// Finds the constraint that refused a row, and the object that holds the values.
    ///
    /// The row is written into a scratch table of the same columns, where the constraint does not hold.
    private func uniquenessConflict(
        _ sql: String,
        _ arguments: [SQLValue],
        of key: ObjectKey
    ) throws -> UniquenessConflict {
        let entity = try self.entity(key.entity)
        let table = SQLName.quoted(entity.table)
        try connection.execute(
            "CREATE TEMP TABLE refused_row AS SELECT * FROM main.\(table) WHERE Z_PK = \(key.primaryKey)"
        )
        defer { try? connection.execute("DROP TABLE temp.refused_row") }
        try connection.run(sql.replacing(table, with: "temp.refused_row", maxReplacements: 1), arguments)
        for ancestor in layout.model.lineage(of: key.entity) {
            for constraint in ancestor.uniquenessConstraints {
                let columns = constraint.compactMap { column(of: $0, in: entity) }.map(SQLName.quoted)
                guard columns.count == constraint.count else { continue }
                let condition = columns.map { "t.\($0) = r.\($0)" }.joined(separator: " AND ")
                let found = try keys(
                    inTable: entity.table,
                    "SELECT t.Z_PK, t.Z_ENT FROM main.\(table) t, temp.refused_row r "
                        + "WHERE \(condition) AND t.Z_PK <> ? LIMIT 1",
                    [.integer(key.primaryKey)]
                )
                guard let holder = found.first else { continue }
                return UniquenessConflict(object: key, constraint: constraint, holder: holder)
            }
        }
        return UniquenessConflict(object: key, constraint: [], holder: nil)
    }

    private func column(of property: String, in entity: StoreLayout.Entity) -> String? {
        if let attribute = entity.attribute(property) { return attribute.column }
        if case .toOne(let key)? = entity.relationship(property)?.storage { return key.column }
        return nil
    }

    // MARK: Errors

    /// The entity of that name; throws when the model or the store does not hold it.
    package func entity(_ name: String) throws(StoreError) -> StoreLayout.Entity {
        try plan(of: name).entity
    }

    /// The attribute of that name, unless others determine its value.
    func settable(_ name: String, in plan: EntityPlan) throws(StoreError) -> StoreLayout.Attribute {
        guard let attribute = plan.attributes[name] else {
            throw unfit("\(plan.entity.name) has no attribute \(name)")
        }
        guard !attribute.description.isDerived else {
            throw unfit("\(plan.entity.name).\(name) is derived: its value follows from others")
        }
        return attribute
    }

    func unfit(_ message: String) -> StoreError {
        StoreError(.incompatible, path: connection.location.path, message)
    }

    func damaged(_ message: String) -> StoreError {
        StoreError(.damaged, path: connection.location.path, message)
    }
}
