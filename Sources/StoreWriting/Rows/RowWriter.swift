import CSQLite
import SafeFiles
package import StoreAccess
package import StoreFormat

/// Writes objects as Core Data's own writer does: keys, versions, relationships from both sides, delete rules.
///
/// It uses the store's actual tables and columns (``StoreLayout``), so it writes genuine stores and our own alike. All
/// calls between two of ``beginSave()`` belong to one transaction; ``save(from:deadline:_:)`` opens and ends one.
package final class RowWriter {
    package let connection: StoreConnection
    package let layout: StoreLayout
    package let external: ExternalDataWriter?
    private(set) var history: HistoryWriter?
    private var triggers: TriggerFunctions
    /// True if triggers may change a row beyond the written values.
    package private(set) var hasTriggers: Bool
    package internal(set) var changes = SaveChanges()
    /// Called before the row of an object is written, and with true before it is deleted.
    package var willWrite: ((_ table: String, _ key: Int64, _ deletes: Bool) throws -> Void)?
    /// External files whose rows were deleted; they are removed after the commit.
    package internal(set) var abandonedFiles: [String] = []
    /// The first key that this save assigned, by root: keys from there on are new, even before their rows are inserted.
    private var firstNewKeys: [String: Int64] = [:]
    /// Objects that this save restores under keys they had before.
    private var announced: Set<ObjectKey> = []
    /// One-to-one destinations of objects that are not inserted yet, because the other side came first.
    private var promises: [ObjectKey: [String: ObjectKey]] = [:]
    private var plans: [String: EntityPlan] = [:]
    /// The last one used: consecutive objects are mostly of one entity.
    private var lastPlan: EntityPlan?
    /// Detects a change of the tables and entities since the layout was read.
    private var fingerprint: [SQLValue?] = []
    private let recordsHistory: Bool
    /// The model version hashes from the store's creation or last migration.
    private let versionHashes: [String: [UInt8]]?
    /// The store identifier that the writer's owner expects.
    private let storeUUID: String?

    /// Creates a writer for a store opened for writing; `external` writes its large values.
    ///
    /// `recordsHistory` is false for a store that keeps an empty history and was opened without history tracking. With
    /// `storeUUID`, a save fails once another store's content has replaced this one's.
    package init(
        _ connection: StoreConnection,
        layout: StoreLayout,
        external: ExternalDataWriter? = nil,
        recordsHistory: Bool = true,
        storeUUID: String? = nil
    ) throws {
        self.storeUUID = storeUUID
        self.connection = connection
        self.layout = layout
        self.external = external
        self.recordsHistory = recordsHistory
        let schema = try StoreSchema(reading: connection)
        history = recordsHistory ? try HistoryWriter(connection, layout: layout, schema: schema) : nil
        hasTriggers = !schema.triggers.isEmpty
        triggers = try TriggerFunctions(on: connection, schema: schema)
        versionHashes = Self.versionHashes(in: connection)
        fingerprint = try currentFingerprint()
    }

    /// True if the store keeps persistent history, which every save then extends.
    package var tracksHistory: Bool { history != nil }

    /// Starts the next save and clears the state of the last one.
    package func beginSave() {
        changes = SaveChanges()
        abandonedFiles = []
        firstNewKeys = [:]
        announced = []
        promises = [:]
        _ = triggers.take()
        external?.beginSave()
    }

    /// Throws if another store's content replaced the opened one, or if the store was migrated since the writer was
    /// created.
    ///
    /// A migration moves columns and renumbers entities. A vacuum, a new index, or enabled history does not affect the
    /// writer. The write lock must be held, or another writer may change the result.
    func requireSchema() throws {
        if let storeUUID, let found = try connection.value("SELECT Z_UUID FROM Z_METADATA LIMIT 1")?.text,
            found != storeUUID
        {
            throw StoreError(
                .replaced,
                path: connection.location.path,
                "another store's content replaced this one's; open the store again"
            )
        }
        let current = try currentFingerprint()
        guard current != fingerprint else { return }
        let schema = try StoreSchema(reading: connection)
        guard let numbers = try EntityNumbers(reading: connection),
            case let found = StoreLayout(model: layout.model, schema: schema, entityNumbers: numbers),
            layout == (layout.hasUnknownColumns ? found.addingUnknownColumns(of: schema) : found),
            Self.versionHashes(in: connection) == versionHashes
        else {
            throw StoreError(
                .changedMeanwhile,
                path: connection.location.path,
                "the store's tables were changed, as by a migration; open the store again"
            )
        }
        history = recordsHistory ? try HistoryWriter(connection, layout: layout, schema: schema) : nil
        hasTriggers = !schema.triggers.isEmpty
        triggers = try TriggerFunctions(on: connection, schema: schema)
        fingerprint = current
    }

    /// Also nil if the metadata cannot be read: tests and recipes write to stores that have none yet.
    private static func versionHashes(in connection: StoreConnection) -> [String: [UInt8]]? {
        (try? StoreMetadata(reading: connection))?.entityVersionHashes
    }

    /// The version of the tables, and the last entity: history's are numbered when it is enabled.
    private func currentFingerprint() throws -> [SQLValue?] {
        [
            try connection.value("PRAGMA main.schema_version"),
            try connection.value("SELECT max(Z_ENT) FROM Z_PRIMARYKEY"),
        ]
    }

    /// The plan for an entity; throws if the model or the store lacks it.
    func plan(of name: String) throws(StoreError) -> EntityPlan {
        if let lastPlan, lastPlan.entity.name == name { return lastPlan }
        if let plan = plans[name] {
            lastPlan = plan
            return plan
        }
        guard let entity = layout.entities[name] else {
            throw unfit(
                layout.model.entitiesByName[name] == nil
                    ? "the model has no entity \(name)" : "the store has no table for the entity \(name)"
            )
        }
        let plan = EntityPlan(entity, in: layout)
        plans[name] = plan
        return plan
    }

    // MARK: Insertion

    /// Reserves memory for the changes of a save that inserts `count` objects.
    package func prepare(forInsertions count: Int) { changes.reserve(count) }

    /// Reserves `count` primary keys for objects of an entity, and returns the first.
    ///
    /// Keys belong to the root entity, whose row of `Z_PRIMARYKEY` records the greatest one assigned. In genuine stores
    /// rows may exceed that number; the keys then begin after the rows.
    package func allocateKeys(for entity: String, count: Int64) throws -> Int64 {
        let entity = try self.entity(entity)
        guard let root = layout.entities[entity.root] else { throw damaged("no entity number for \(entity.root)") }
        let greatest = try connection.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(root.number)])
        let present = try connection.value("SELECT max(Z_PK) FROM \(SQLName.quoted(entity.table))")?.integer ?? 0
        guard case .integer(let recorded) = greatest, count > 0, recorded >= 0,
            case let last = max(recorded, present), last <= Int64.max - count
        else { throw damaged("Z_PRIMARYKEY gives no usable key for \(entity.root)") }
        try connection.run(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
            [.integer(last + count), .integer(root.number)]
        )
        if firstNewKeys[entity.root] == nil { firstNewKeys[entity.root] = last + 1 }
        return last + 1
    }

    /// Reserves keys for objects of each entity that later saves insert, and returns the first of each.
    ///
    /// Call it in a transaction of its own, between two saves.
    package func reserveKeys(_ counts: [String: Int64]) throws -> [String: Int64] {
        defer { beginSave() }
        try requireSchema()
        var result: [String: Int64] = [:]
        for (entity, count) in counts.sorted(by: { $0.key < $1.key }) {
            result[entity] = try allocateKeys(for: entity, count: count)
        }
        return result
    }

    /// Inserts the row of an object with a reserved key, with its attributes and its to-one relationships.
    ///
    /// A new destination may be inserted later in the save. To-many relationships are set afterwards. An object
    /// restored under its former key gets a higher version, so that readers do not mistake it for the one they know.
    package func insert(
        _ key: ObjectKey,
        _ values: [String: SQLValue],
        toOne destinations: [String: ObjectKey] = [:],
        version: Int64 = 1
    ) throws {
        let plan = try plan(of: key.entity)
        for name in values.keys { _ = try settable(name, in: plan) }
        var arguments = Self.firstValues(key, plan, version)
        for attribute in plan.inserted {
            arguments.append(try encoded(values[attribute.description.name] ?? .null, for: attribute, of: key))
        }
        // A column without a given value gets its own default.
        var columns: [String: SQLValue] = [:]
        for attribute in plan.unknownColumns { columns[attribute.column] = values[attribute.description.name] }
        try insert(key, plan, arguments, columns, toOne: destinations)
    }

    /// The attributes that the row of a new object is written with; triggers compute the derived ones.
    package func insertedAttributes(of entity: String) throws -> [String] {
        let plan = try plan(of: entity)
        return (plan.inserted + plan.unknownColumns).map(\.description.name)
    }

    /// The same with the values of ``insertedAttributes(of:)``, in their order: faster for many objects.
    package func insert(
        _ key: ObjectKey,
        values: [AttributeValue],
        toOne destinations: [String: ObjectKey] = [:],
        version: Int64 = 1
    ) throws {
        let plan = try plan(of: key.entity)
        guard values.count == plan.encoders.count else { throw unfit("\(key.entity) lacks some of its values") }
        var arguments = Self.firstValues(key, plan, version)
        for index in values.indices {
            arguments.append(try plan.encoders[index].column(values[index], external: external))
        }
        try insert(key, plan, arguments, toOne: destinations)
    }

    /// The values of key, entity and version, in an array with room for the others.
    private static func firstValues(_ key: ObjectKey, _ plan: EntityPlan, _ version: Int64) -> [SQLValue] {
        var values: [SQLValue] = []
        values.reserveCapacity(3 + plan.inserted.count + plan.entity.relationships.count)
        values.append(.integer(key.primaryKey))
        values.append(.integer(plan.entity.number))
        values.append(.integer(version))
        return values
    }

    /// Inserts a row with the values of its first three columns and of the inserted attributes.
    private func insert(
        _ key: ObjectKey,
        _ plan: EntityPlan,
        _ values: consuming [SQLValue],
        _ columns: [String: SQLValue] = [:],
        toOne destinations: [String: ObjectKey]
    ) throws {
        guard !plan.entity.isAbstract else { throw unfit("\(key.entity) is abstract and cannot have objects") }
        var destinations = destinations
        if !promises.isEmpty, let promised = promises.removeValue(forKey: key) {
            destinations.merge(promised) { given, _ in given }
        }
        var row = columns
        for (name, destination) in destinations {
            let place = try toOne(name, of: key)
            try requireFit(destination, place.description, of: key)
            try release(destination, from: place.description, before: key)
            row.merge(try self.columns(of: place, leadingTo: destination, in: plan.entity)) { $1 }
        }
        let keyColumns = row.isEmpty ? [] : row.keys.sorted()
        for column in keyColumns { if let value = row[column] { values.append(value) } }
        try write(plan.insertion(keyColumns), values, of: key)
        changes.insert(key)
        guard !destinations.isEmpty else { return }
        for (name, destination) in destinations.sorted(by: { $0.key < $1.key }) {
            try follow(key, try toOne(name, of: key).description, to: destination)
        }
    }

    /// True for an object whose key this save assigned, even before its row is inserted.
    func isNew(_ key: ObjectKey) -> Bool {
        if announced.contains(key) { return true }
        guard !firstNewKeys.isEmpty, let root = plans[key.entity]?.entity.root ?? layout.entities[key.entity]?.root,
            let first = firstNewKeys[root]
        else { return false }
        return key.primaryKey >= first
    }

    /// Announces objects that will be inserted under their former keys, so that others may refer to them already.
    package func announce(_ keys: some Sequence<ObjectKey>) { announced.formUnion(keys) }

    /// Records the other side of a one-to-one for an object that is not inserted yet.
    func promise(_ key: ObjectKey, _ name: String, _ destination: ObjectKey) {
        promises[key, default: [:]][name] = destination
    }

    // MARK: Update

    /// Changes attributes of an object.
    ///
    /// With a version, throws ``VersionConflict`` when the object is not of that version, this save's own changes aside.
    package func update(_ key: ObjectKey, _ values: [String: SQLValue], expecting version: Int64? = nil) throws {
        let plan = try plan(of: key.entity)
        if let version, let conflict = try conflict(over: key, expecting: version) { throw conflict }
        var assignments: [String] = []
        var arguments: [SQLValue] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let attribute = try settable(name, in: plan)
            if attribute.description.allowsExternalBinaryDataStorage {
                try abandonFile(of: key, plan.entity, attribute)
            }
            assignments.append("\(SQLName.quoted(attribute.column)) = ?")
            arguments.append(try encoded(value, for: attribute, of: key))
        }
        guard !assignments.isEmpty else { return }
        try update(key, assignments, arguments, changing: Set(values.keys.map(HistorySlots.Slot.property)))
    }

    /// Raises a version.
    ///
    /// After the greatest integer counting starts again, because SQLite would continue with a real number.
    private static let nextVersion = "Z_OPT = CASE Z_OPT WHEN \(Int64.max) THEN 1 ELSE ifnull(Z_OPT, 0) + 1 END"

    /// Writes columns of an object's row, and raises the version in the same statement the first time in a save.
    func update(
        _ key: ObjectKey,
        _ assignments: [String],
        _ arguments: [SQLValue],
        changing slots: Set<HistorySlots.Slot>
    ) throws {
        let plan = try plan(of: key.entity)
        let isFirst = !changes.hasInserted(key) && !changes.hasUpdated(key) && !changes.hasDeleted(key)
        let all = assignments + (isFirst ? [Self.nextVersion] : [])
        guard !all.isEmpty else { return changes.update(key, slots) }
        let list = all.joined(separator: ", ")
        try write(
            "UPDATE \(SQLName.quoted(plan.entity.table)) SET \(list) WHERE \(plan.rowCondition)",
            arguments + [.integer(key.primaryKey)],
            of: key
        )
        guard connection.withHandle({ sqlite3_changes64($0) }) == 1 else {
            throw VersionConflict(object: key, expected: nil, found: nil)
        }
        changes.update(key, slots)
    }

    /// Records that an object changed although no column of its row did, and raises its version once per save.
    func touch(_ key: ObjectKey, _ slots: Set<HistorySlots.Slot>) throws {
        // The row of a new object may not exist yet, and its version is the first anyway.
        guard !isNew(key) else { return }
        try update(key, [], [], changing: slots)
    }

    // MARK: The end of a save

    /// Makes the next save read the tables again, because this one, which may have changed them, is rolled back.
    func forgetSchema() { fingerprint = [] }

    /// Runs `body` in a save without these triggers; they are dropped and restored in its transaction.
    package func holding(_ triggers: [StoreSchema.Trigger], _ body: () throws -> Void) throws {
        for trigger in triggers { try connection.execute("DROP TRIGGER \(SQLName.quoted(trigger.name))") }
        try body()
        for trigger in triggers { try connection.execute(trigger.sql) }
        // The schema is the one that the save began with.
        if !triggers.isEmpty { fingerprint = try currentFingerprint() }
    }

    /// Collects the changes of triggers, and writes the history of the save; returns the transaction's number.
    ///
    /// Nil if the store keeps no history. A save without changes is recorded too.
    package func finishSave(from origin: HistoryWriter.Origin) throws -> Int64? {
        try requireSchema()
        if let (key, _) = promises.first {
            throw unfit("an object of \(key.entity) that a relationship refers to was not inserted")
        }
        for affected in triggers.take() {
            guard let entity = layout.entity(numbered: affected.entity) else { continue }
            let attribute = entity.attributes.first {
                $0.description.name == affected.property || $0.column == affected.property
            }
            let name = attribute?.description.name ?? affected.property
            let key = ObjectKey(entity: entity.name, primaryKey: affected.primaryKey)
            if try version(of: key) != nil { try touch(key, [.property(name)]) }
        }
        let number = try history?.write(changes, from: origin)
        // Writing history may have added columns.
        if number != nil { fingerprint = try currentFingerprint() }
        return number
    }
}

extension RowWriter {
    /// Converts typed values of attributes to the form of ``insert(_:_:toOne:)`` and ``update(_:_:expecting:)``.
    ///
    /// Throws ``StoreError`` with the code `incompatible` if a value does not fit its attribute.
    package func stored(_ values: [String: AttributeValue], for entity: String) throws -> [String: SQLValue] {
        let plan = try plan(of: entity)
        var result: [String: SQLValue] = [:]
        for (name, value) in values {
            let attribute = try settable(name, in: plan)
            // Large values are passed as bytes: the writer decides which of them go to files.
            guard let stored = value.converted(to: attribute.description.type)?.plainlyStored else {
                throw unfit("the value does not fit the type of \(entity).\(name)")
            }
            result[name] = stored
        }
        return result
    }
}
