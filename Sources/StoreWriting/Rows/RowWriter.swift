package import StoreFormat

/// Writes objects as Core Data's own writer does: keys, versions, relationships from both sides, delete rules.
///
/// All calls belong to one transaction, which the caller opens and ends; ``changes`` is what history is to be told of it.
package final class RowWriter {
    let connection: StoreConnection
    package let shape: StoreShape
    private let external: ExternalDataWriter?
    let entityNames: [Int64: String]
    package internal(set) var changes = SaveChanges()
    /// External files whose rows are gone; they are removed after the commit.
    package internal(set) var abandonedFiles: [String] = []

    package init(_ connection: StoreConnection, shape: StoreShape, external: ExternalDataWriter? = nil) {
        self.connection = connection
        self.shape = shape
        self.external = external
        entityNames = Dictionary(uniqueKeysWithValues: shape.entities.values.map { ($0.number, $0.name) })
    }

    /// Starts the next save: what was noted of the last one is forgotten.
    package func beginSave() {
        changes = SaveChanges()
        abandonedFiles = []
    }

    /// Takes `count` primary keys for objects of an entity, and returns the first.
    ///
    /// Keys belong to the root entity, whose row of `Z_PRIMARYKEY` alone holds the greatest one given out.
    package func allocateKeys(for entity: String, count: Int64) throws -> Int64 {
        let entity = try shape.entity(entity)
        let greatest = try connection.value(
            "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
            [.integer(entity.rootNumber)]
        )
        guard case .integer(let last) = greatest, count > 0, last >= 0, last <= Int64.max - count else {
            throw StoreError(
                .damaged,
                path: connection.location.path,
                "Z_PRIMARYKEY gives no usable key for \(entity.root)"
            )
        }
        try connection.run(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
            [.integer(last + count), .integer(entity.rootNumber)]
        )
        return last + 1
    }

    /// Inserts the row of an object whose key was taken before; its relationships are set afterwards.
    package func insert(_ key: ObjectKey, _ values: [String: SQLValue]) throws {
        let entity = try shape.entity(key.entity)
        guard !entity.isAbstract else {
            throw StoreError(.incompatible, path: "", "\(key.entity) is abstract and has no objects of its own")
        }
        if let unknown = values.keys.sorted().first(where: { entity.attributes[$0] == nil }) {
            throw StoreError(.incompatible, path: "", "\(key.entity) has no attribute \(unknown)")
        }
        var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
        var arguments: [SQLValue] = [.integer(key.primaryKey), .integer(entity.number), .integer(1)]
        for (name, slot) in entity.attributes.sorted(by: { $0.key < $1.key }) where !slot.attribute.isDerived {
            columns.append(slot.column)
            arguments.append(try encoded(values[name] ?? .null, for: slot.attribute, of: key))
        }
        let names = columns.map(SQLName.quoted).joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try connection.run("INSERT INTO \(SQLName.quoted(entity.table)) (\(names)) VALUES (\(places))", arguments)
        changes.insert(key)
    }

    /// Changes attributes of an object.
    package func update(_ key: ObjectKey, _ values: [String: SQLValue]) throws {
        let entity = try shape.entity(key.entity)
        var assignments: [String] = []
        var arguments: [SQLValue] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let slot = entity.attributes[name] else {
                throw StoreError(.incompatible, path: "", "\(key.entity) has no attribute \(name)")
            }
            if slot.attribute.allowsExternalBinaryDataStorage { try abandonFile(of: key, entity, slot.column) }
            assignments.append("\(SQLName.quoted(slot.column)) = ?")
            arguments.append(try encoded(value, for: slot.attribute, of: key))
        }
        guard !assignments.isEmpty else { return }
        try connection.run(
            "UPDATE \(SQLName.quoted(entity.table)) SET \(assignments.joined(separator: ", ")) WHERE Z_PK = ?",
            arguments + [.integer(key.primaryKey)]
        )
        try touch(key, Set(values.keys.map { .attribute($0) }))
    }

    /// Notes that an object changed, and raises its version once a save.
    func touch(_ key: ObjectKey, _ slots: Set<StoreShape.HistorySlot>) throws {
        guard changes.update(key, slots) else { return }
        let entity = try shape.entity(key.entity)
        try connection.run(
            "UPDATE \(SQLName.quoted(entity.table)) SET Z_OPT = Z_OPT + 1 WHERE Z_PK = ?",
            [.integer(key.primaryKey)]
        )
    }

    func abandonFile(of key: ObjectKey, _ entity: StoreShape.Entity, _ column: String) throws {
        let stored = try connection.value(
            "SELECT \(SQLName.quoted(column)) FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
            [.integer(key.primaryKey)]
        )
        if let name = stored?.blob.flatMap(ExternalDataWriter.fileName) { abandonedFiles.append(name) }
    }

    private func encoded(_ value: SQLValue, for attribute: AttributeDescription, of key: ObjectKey) throws -> SQLValue {
        try AttributeEncoding.column(value, for: attribute, of: key.entity, external: external)
    }
}
