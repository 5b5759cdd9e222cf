import NearNames
package import StoreAccess
import StoreFormat

/// What identifies the objects of a model: its uniqueness constraints, and the caller's settings.
struct IdentityRules {
    /// The layout of the store that receives the changes.
    let layout: StoreLayout
    let settings: MergeSettings

    private var model: ManagedObjectModel { layout.model }

    /// The groups of properties that identify objects of an entity: attributes, and to-one relationships where a setting
    /// names them.
    func identities(of entity: String) -> [[String]] {
        constraints(of: entity)
            + model.lineage(of: entity).compactMap { settings.identities[$0.name] }.filter { !$0.isEmpty }
    }

    /// The uniqueness constraints of an entity that consist of attributes alone.
    func constraints(of entity: String) -> [[String]] {
        let attributes = Set(model.attributes(of: entity).map(\.name))
        return model.lineage(of: entity).flatMap(\.uniquenessConstraints)
            .filter { !$0.isEmpty && attributes.isSuperset(of: $0) }
    }

    /// How many objects must be identified one after the other before those of an entity are; nil for a cycle.
    func depth(of entity: String, below path: Set<String> = []) -> Int? {
        guard !path.contains(entity) else { return nil }
        var depth = 0
        for name in Set(identities(of: entity).joined()) {
            guard let destination = model.relationships(of: entity).first(where: { $0.name == name })?.destination
            else { continue }
            for partner in layout.entities.keys where model.isEntity(partner, kindOf: destination) {
                guard let below = self.depth(of: partner, below: path.union([entity])) else { return nil }
                depth = max(depth, below + 1)
            }
        }
        return depth
    }

    /// Why two stores without a common base cannot be merged; nil if the objects of each entity have an identity.
    func refusal(of old: MergeSide, into shared: MergeSide) throws -> MergeRefusal? {
        let met = try commonEntities(old, shared)
        let lacking = unidentified(met)
        if old.metadata.uuid == shared.metadata.uuid {
            // Copies of one store without a common base: the same key may or may not denote the same object.
            return lacking.isEmpty ? nil : .needsBase(entities: lacking)
        }
        return met.isEmpty || lacking.count < met.count ? nil : .unidentifiedEntities(lacking)
    }

    /// The entities of unrelated stores of which all old objects are inserted, because they have no identity.
    func insertedWhole(from old: MergeSide, into shared: MergeSide) throws -> [String] {
        unidentified(try commonEntities(old, shared))
    }

    /// The entities of which both stores have objects.
    private func commonEntities(_ old: MergeSide, _ shared: MergeSide) throws -> [String] {
        try layout.entities.keys.filter { try shared.holdsObjects(of: $0) && old.holdsObjects(of: $0) }
    }

    private func unidentified(_ entities: [String]) -> [String] {
        entities.filter { identities(of: $0).isEmpty }.sorted(by: ManagedObjectModel.inByteOrder)
    }

    /// Throws if a setting names an entity, a table or a property that the store lacks, instead of ignoring the setting.
    ///
    /// Beside entities, a setting may name a table outside the model.
    func requireNames(schema: StoreSchema, path: String) throws {
        for name in settings.names {
            guard layout.entities[name] != nil else {
                try settings.requireTable(
                    name,
                    among: layout.entities.keys.sorted(),
                    noun: "entity",
                    schema,
                    path: path
                )
                continue
            }
            guard let properties = settings.identities[name] else { continue }
            let known = Set(model.attributes(of: name).filter { !$0.isTransient }.map(\.name))
                .union(model.relationships(of: name).filter { !$0.isToMany }.map(\.name))
            if let unknown = properties.first(where: { !known.contains($0) }) {
                throw StoreError(
                    .wrongSettings,
                    path: path,
                    "\(name) has no attribute or to-one relationship \(unknown) to identify its objects; "
                        + NearName.hint(unknown, among: known.sorted(), list: "it has")
                )
            }
            guard depth(of: name) == nil else { continue }
            throw StoreError(
                .wrongSettings,
                path: path,
                "the identity of \(name) depends on itself through its relationships"
            )
        }
    }
}

extension MergeSettings {
    /// The entities and tables that the settings name, in byte order.
    fileprivate var names: [String] {
        Set(policies.keys).union(identities.keys).sorted(by: ManagedObjectModel.inByteOrder)
    }

    /// Throws if a setting names an entity, a table, a property or a column that the store lacks.
    ///
    /// Reads nothing if no setting names any.
    package func requireNames(in connection: StoreConnection) throws {
        guard !names.isEmpty else { return }
        let schema = try StoreSchema(reading: connection)
        let path = connection.location.path
        if try EntityNumbers(reading: connection) != nil {
            // Without a model inside the store, names cannot be checked, and no merge is possible.
            guard let layout = try StoreLayout(reading: connection, model: nil) else { return }
            return try IdentityRules(layout: layout, settings: self).requireNames(schema: schema, path: path)
        }
        let tables = Self.tables(of: schema).map(\.name).sorted(by: ManagedObjectModel.inByteOrder)
        for name in names { try requireTable(name, among: tables, noun: "table", schema, path: path) }
    }

    /// The tables with rows of their own: those of SQLite and of search indexes are no choice.
    private static func tables(of schema: StoreSchema) -> [StoreSchema.Table] {
        schema.tables.filter { table in
            switch table.kind {
            case .ordinary, .withoutRowID, .virtual: true
            case .shadow, .ofSQLite: false
            }
        }
    }

    /// Throws unless the store has the table `name`, and its columns are those of the setting.
    fileprivate func requireTable(
        _ name: String,
        among known: [String],
        noun: String,
        _ schema: StoreSchema,
        path: String
    ) throws {
        guard let table = Self.tables(of: schema).first(where: { $0.name == name }) else {
            let hint = NearName.hint(name, among: known, list: "it has")
            throw StoreError(
                .wrongSettings,
                path: path,
                "the store has no \(noun) \(name), which the merge settings name; \(hint)"
            )
        }
        let columns = table.columns.map(\.name)
        let lower = Set(columns.map { $0.lowercased() })
        guard let unknown = identities[name]?.first(where: { !lower.contains($0.lowercased()) }) else { return }
        throw StoreError(
            .wrongSettings,
            path: path,
            "the table \(name) has no column \(unknown) to identify its rows; "
                + NearName.hint(unknown, among: columns, list: "it has")
        )
    }
}

extension MergeRefusal {
    /// The entities or tables for which a merge of two stores without a base needs an identity, or inserts every object
    /// without one; empty if there is none.
    ///
    /// Compares no rows, so a table whose rows are the same in both stores counts as well.
    package static func unidentified(
        in old: StoreConnection,
        and shared: StoreConnection,
        _ settings: MergeSettings
    ) throws -> [String] {
        let areManaged = try [old, shared].map { try EntityNumbers(reading: $0) != nil }
        guard areManaged.contains(false) else {
            let sides = try [old, shared].map { try MergeSide($0, externalData: nil) }
            return try IdentityRules(layout: sides[1].layout, settings: settings)
                .insertedWhole(from: sides[0], into: sides[1])
        }
        guard !areManaged.contains(true) else { return [] }
        let schema = try StoreSchema(reading: old)
        return try PlainLayout(reading: shared) { schema.table(named: $0) != nil }.tables
            .filter { table in
                guard table.needsIdentity(settings) else { return false }
                return try [old, shared]
                    .allSatisfy {
                        try $0.value("SELECT 1 FROM \(table.quotedName) LIMIT 1") != nil
                    }
            }
            .map(\.name)
    }
}

extension PlainTable {
    /// True if only an identity says which rows of two stores without a base are the same.
    ///
    /// A number that SQLite assigned has no meaning in another store.
    func needsIdentity(_ settings: MergeSettings) -> Bool {
        hasMovableKey && uniques.isEmpty && follows == nil && settings.identities[name] == nil
    }
}
