import CSQLite
package import StoreAccess
package import StoreFormat

extension RowWriter {
    /// Returns the object with a key, under its concrete entity; nil if there is none.
    ///
    /// `entity` may be any entity of the object's inheritance line, as in a URI. Throws if the row has an entity number
    /// that its table does not have: such a row cannot be written.
    package func object(_ entity: String, _ primaryKey: Int64) throws -> ObjectKey? {
        let entity = try self.entity(entity)
        let number = try connection.value(
            "SELECT Z_ENT FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
            [.integer(primaryKey)]
        )
        guard let number else { return nil }
        guard let found = layout.entity(ofRowNumbered: number.integer ?? 0, inTable: entity.table) else {
            throw damaged("a row of \(entity.table) has an unknown entity number, and cannot be written")
        }
        return ObjectKey(entity: found.name, primaryKey: primaryKey)
    }

    /// Returns the current version (`Z_OPT`) of an object, this save's changes included; nil if it is deleted.
    package func version(of key: ObjectKey) throws -> Int64? {
        let plan = try plan(of: key.entity)
        let version = try connection.value(
            "SELECT ifnull(Z_OPT, 0) FROM \(SQLName.quoted(plan.entity.table)) WHERE \(plan.rowCondition)",
            [.integer(key.primaryKey)]
        )
        return version?.integer
    }

    /// Returns the conflict that prevents writing an object read at `version`; nil if there is none.
    ///
    /// This save's own changes to the object are no conflict. The write lock must be held, or another writer may change
    /// the result.
    package func conflict(over key: ObjectKey, expecting version: Int64) throws -> VersionConflict? {
        if changes.hasInserted(key) || changes.hasDeleted(key) { return nil }
        guard let current = try self.version(of: key) else {
            _ = try object(key.entity, key.primaryKey)
            return VersionConflict(object: key, expected: version, found: nil)
        }
        let found = changes.hasUpdated(key) ? current &- 1 : current
        return found == version ? nil : VersionConflict(object: key, expected: version, found: found)
    }

    /// Marks the file that an attribute refers to for removal after the commit.
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

    /// Runs a statement that writes the row of `key`; a violated uniqueness constraint is thrown as a conflict.
    func write(_ sql: String, _ arguments: [SQLValue], of key: ObjectKey) throws {
        if let willWrite { try willWrite(plan(of: key.entity).entity.table, key.primaryKey, false) }
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

    /// Finds the constraint that rejected a row, and the object that has the values.
    ///
    /// The row is written into a scratch table with the same columns and without the constraint.
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

    /// The entity of that name; throws if the model or the store lacks it.
    package func entity(_ name: String) throws(StoreError) -> StoreLayout.Entity {
        try plan(of: name).entity
    }

    /// The attribute of that name; throws for a derived one.
    func settable(_ name: String, in plan: EntityPlan) throws(StoreError) -> StoreLayout.Attribute {
        guard let attribute = plan.attributes[name] else {
            throw unfit("\(plan.entity.name) has no attribute \(name)")
        }
        guard !attribute.description.isDerived else {
            throw unfit("\(plan.entity.name).\(name) is derived and cannot be set")
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
