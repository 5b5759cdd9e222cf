import StoreAccess
import StoreFormat

/// The content of a store's tables, read independently of the code under test except for the model decoder.
struct PlainReading {
    /// An object as a row.
    struct Row: Hashable {
        let table: String
        let key: Int64
    }

    let tables: PlainTables
    let names: PlainNames
    /// True for a store without a cached model: the meaning of its hidden columns is unknown.
    private let isModelInferred: Bool
    private let index: PlainIndex

    init(_ connection: StoreConnection) throws {
        tables = try PlainTables(connection)
        index = PlainIndex(tables)
        let cache = tables.rows(of: "Z_MODELCACHE").first?.values["Z_CONTENT"]?.blob
        isModelInferred = cache == nil
        let model: ManagedObjectModel
        if let cache {
            model = try ManagedObjectModel(modelCache: cache)
        } else {
            model = .inferred(
                from: try StoreSchema(reading: connection),
                entityNumbers: try EntityNumbers(reading: connection) ?? EntityNumbers([])
            )
        }
        names = PlainNames(model, tables)
    }

    /// Reads the same store again; its tables must have the same columns.
    init(_ connection: StoreConnection, after earlier: PlainReading) throws {
        tables = try PlainTables(connection)
        index = PlainIndex(tables)
        names = earlier.names
        isModelInferred = earlier.isModelInferred
    }

    /// The keys of the objects of exactly this entity.
    func keys(of entity: String) -> [Int64] {
        tables.rows(of: names.table(of: entity)).filter { names.isRow($0.values["Z_ENT"], of: entity) }.map(\.rowID)
    }

    /// The keys of the objects of an entity and its subentities.
    func keys(ofAll entity: String) -> [Int64] {
        names.model.entitiesByName.keys.filter { names.lineage($0).contains { $0.name == entity } }.flatMap(keys(of:))
    }

    /// The concrete entity of a row; nil for a number of no entity in its table.
    func entity(of row: Row) -> String? {
        let all = names.entities(in: row.table)
        if all.count == 1 { return all[0] }
        let number = tables.value("Z_ENT", of: row.key, in: row.table).integer
        return number.flatMap(names.name(numbered:)).flatMap { all.contains($0) ? $0 : nil }
    }

    /// The keys of a relationship's destinations, in its order or by key.
    ///
    /// Nil when no column or table has the predicted name.
    func destinations(of key: Int64, _ entity: String, _ relationship: RelationshipDescription) -> [Int64]? {
        let table = names.table(of: relationship.destination)
        if !relationship.isToMany {
            guard let place = names.toOne(entity, relationship.name) else { return nil }
            return [tables.value(place.column, of: key, in: names.table(of: entity)).integer].compactMap { $0 }
        }
        let inverse = relationship.inverse.flatMap { names.relationship(relationship.destination, $0) }
        let hidden = names.hiddenColumn(entity, relationship.name)
        var found: [(place: SQLValue, key: Int64)] = []
        if hidden != nil || inverse?.isToMany == false {
            let place = inverse.flatMap { names.toOne(relationship.destination, $0.name) }
            guard let column = hidden ?? place?.column else { return nil }
            for rowID in index.rows(of: table, where: column, is: key)
            where self.entity(of: Row(table: table, key: rowID)) != nil {
                found.append((place?.orderColumn.map { tables.value($0, of: rowID, in: table) } ?? .null, rowID))
            }
        } else {
            guard let join = names.join(entity, relationship.name) else { return nil }
            func take(_ column: String, _ other: String) {
                for rowID in index.rows(of: join.table, where: column, is: key) {
                    guard let member = tables.value(other, of: rowID, in: join.table).integer else { continue }
                    let place = join.orderColumn.map { tables.value($0, of: rowID, in: join.table) } ?? .null
                    found.append((place, member))
                }
            }
            take(join.owner, join.member)
            if join.isReflexive { take(join.member, join.owner) }
            found.removeAll { tables.tables[table]?.rows[$0.key] == nil }
        }
        var seen: Set<Int64> = []
        return found.sorted { ($0.place.number ?? -.infinity, $0.key) < ($1.place.number ?? -.infinity, $1.key) }
            .map(\.key).filter { seen.insert($0).inserted }
    }

    /// The columns of model tables without a property.
    func unexplainedColumns() -> [String] {
        var explained: [String: Set<String>] = [:]
        for entity in names.model.entitiesByName.keys {
            let table = names.table(of: entity)
            explained[table, default: []].formUnion(["Z_PK", "Z_ENT", "Z_OPT"])
            explained[table, default: []]
                .formUnion(names.attributes(entity).compactMap { names.column(entity, $0.name) })
            for relationship in names.relationships(entity) {
                if let hidden = names.hiddenColumn(entity, relationship.name) {
                    explained[names.table(of: relationship.destination), default: []].insert(hidden)
                }
                guard let place = names.toOne(entity, relationship.name) else { continue }
                explained[table, default: []]
                    .formUnion([place.column, place.entityColumn, place.orderColumn].compactMap { $0 })
            }
        }
        return
            explained.flatMap { table, columns in
                (tables.tables[table]?.columns ?? []).filter { !columns.contains($0) }
                    .filter { !isModelInferred || $0.dropFirst().first?.isNumber != true }
                    .map { "\(table).\($0)" }
            }
            .sorted()
    }
}
