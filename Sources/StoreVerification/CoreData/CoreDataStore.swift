import SafeFiles
package import StoreAccess
import StoreFormat

/// A Core Data store for the rules: its model mapped to the tables and columns that exist.
package struct CoreDataStore {
    /// An attribute and the column that holds it.
    struct Attribute {
        /// The entity that declares it.
        let entity: String
        /// The numbers of the entities whose objects have it.
        let entities: [Int64]
        let table: String
        let column: String
        let attribute: AttributeDescription
    }

    /// A to-one relationship and the columns that hold it.
    struct ToOne {
        let entity: String
        let entities: [Int64]
        let table: String
        let name: String
        let column: String
        /// Records the entity of the destination, where that has subentities.
        let entityColumn: String?
        /// Records the position among the objects of the same destination, where the inverse is ordered.
        let orderColumn: String?
        let destinationTable: String
        let destinationEntities: [Int64]
        /// The column of the inverse, where that is a to-one too.
        let inverseColumn: String?
    }

    /// A table that joins the objects of a many-to-many relationship.
    struct Join {
        /// One of its two columns.
        struct Side {
            /// Holds the keys of the objects of this side.
            let column: String
            /// The declared entity of these objects.
            let entity: String
            let entities: [Int64]
            let table: String
            /// Records the position of the other side's object among those joined to this side's.
            let orderColumn: String?
        }

        let table: String
        let sides: [Side]
    }

    /// A uniqueness constraint and its columns.
    struct Constraint {
        let entity: String
        let entities: [Int64]
        let table: String
        let names: [String]
        let columns: [String]
    }

    /// A root entity, or one of history or mirror, and its table.
    struct Root {
        let entry: EntityNumbers.Entry
        let table: String
    }

    let connection: StoreConnection
    let location: StoreLocation
    let externalData: Directory?
    let schema: StoreSchema
    let metadata: StoreMetadata
    let entityNumbers: EntityNumbers
    /// The names under which renamed entities are numbered, by the model's names.
    let formerNames: [String: String]
    /// The store's copy of the model; nil where it has none.
    let model: ManagedObjectModel?
    /// The parts of the model that the tables lack.
    let unresolved: [StoreLayout.Unresolved]
    /// The abstract entities, which no row can have.
    let abstractEntities: Set<Int64>
    let roots: [Root]
    let attributes: [Attribute]
    let toOnes: [ToOne]
    let joins: [Join]
    let constraints: [Constraint]
    /// The bytes of the list of changed properties in the history, by entity number.
    let historyColumnLengths: [Int64: Int]
}

extension CoreDataStore {
    /// Why nothing of Core Data is checked in another database.
    package static let plainStore = "this is a plain SQLite store, not a Core Data store"

    /// True when the database is a Core Data store.
    package static func isOne(_ connection: StoreConnection) throws -> Bool {
        try StoreMetadata(reading: connection) != nil && EntityNumbers(reading: connection) != nil
    }

    /// Nil for a plain SQLite store.
    ///
    /// Without a model in the store, what only the model defines, such as required values, is not checked.
    init?(_ connection: StoreConnection, location: StoreLocation, externalData: Directory?) throws {
        let schema = try StoreSchema(reading: connection)
        guard Self.hasColumns(["Z_VERSION", "Z_UUID", "Z_PLIST"], schema.table(named: "Z_METADATA")),
            let recorded = try EntityNumbers(reading: connection)
        else { return nil }
        let cached = try Self.cachedModel(connection, schema)
        let model = cached ?? ManagedObjectModel.inferred(from: schema, entityNumbers: recorded)
        let entityNumbers = recorded.named(by: model)
        let layout = StoreLayout(model: model, schema: schema, entityNumbers: entityNumbers)
        let spread = PropertyOwners(layout, entityNumbers)

        self.connection = connection
        self.location = location
        self.externalData = externalData
        self.schema = schema
        metadata = try StoreMetadata(reading: connection) ?? StoreMetadata(uuid: "", values: [:])
        self.entityNumbers = entityNumbers
        formerNames = Dictionary(
            zip(recorded.entries, entityNumbers.entries).filter { $0.name != $1.name }.map { ($1.name, $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
        self.model = cached
        unresolved = layout.unresolved
        abstractEntities = Set(layout.entities.values.filter(\.isAbstract).map(\.number))
        roots = entityNumbers.roots.compactMap { entry in
            // The tables of history and of the CloudKit mirror begin with another letter.
            let name = (entry.isOfModel ? "Z" : "A") + entry.name.uppercased()
            guard let table = schema.table(named: name), Self.hasColumns(["Z_PK", "Z_ENT"], table) else { return nil }
            return Root(entry: entry, table: table.name)
        }
        attributes = spread.attributes
        toOnes = spread.toOnes
        joins = spread.joins
        constraints = spread.constraints
        historyColumnLengths = cached == nil ? [:] : spread.historyColumnLengths
    }

    /// The model that Core Data keeps in the store; nil when there is none, or none that can be decoded.
    private static func cachedModel(_ connection: StoreConnection, _ schema: StoreSchema) throws -> ManagedObjectModel?
    {
        guard hasColumns(["Z_CONTENT"], schema.table(named: "Z_MODELCACHE")),
            let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.blob
        else { return nil }
        return try? ManagedObjectModel(modelCache: bytes)
    }

    private static func hasColumns(_ names: [String], _ table: StoreSchema.Table?) -> Bool {
        guard let table, table.holdsRows else { return false }
        return names.allSatisfy { table.column(named: $0) != nil }
    }
}

/// Queries and parts of SQL that the rules share.
extension CoreDataStore {
    /// True when the table exists and has all these columns.
    func has(_ columns: [String], in name: String) -> Bool {
        guard let table = schema.table(named: name), table.holdsRows else { return false }
        return columns.allSatisfy { table.column(named: $0) != nil }
    }

    /// The number that a statement returns; 0 when it returns none.
    func count(_ sql: String) throws -> Int64 {
        try connection.value(sql)?.integer ?? 0
    }

    func isAbstract(_ entity: Int64) -> Bool { abstractEntities.contains(entity) }

    /// The numbers as the content of a list in SQL.
    func list(_ numbers: [Int64]) -> String {
        numbers.map(String.init).joined(separator: ", ")
    }

    /// The condition that a row of the table is an object of one of the entities, as SQL.
    ///
    /// It is always true where `entities` contains every entity of the table: another rule checks that rows have an entity
    /// of their table.
    func condition(for entities: [Int64], in table: String, alias: String = "") -> String {
        let all = roots.first { $0.table == table }.map { entityNumbers.subtree(of: $0.entry.number) } ?? []
        let isEvery = !all.isEmpty && Set(all.filter { !isAbstract($0) }).isSubset(of: entities)
        return isEvery ? "1" : "\(alias)Z_ENT IN (\(list(entities)))"
    }

    /// The path of an external file for messages.
    func externalPath(_ name: String) -> String {
        let folder = location.supportFolderName + "/" + StoreLocation.externalDataFolderName
        return StoreLocation(folder: location.folder, name: folder + "/" + name).path
    }

    /// Checks every rule; damage that a query meets is a finding too.
    func findings(monitor: WorkMonitor) throws -> [Finding] {
        let (location, externalData) = (location, externalData)
        let results = try ParallelReading(connection)
            .map(CoreDataRules.all) { own in
                try CoreDataStore(own, location: location, externalData: externalData)
            } _: { rule, store in
                try monitor.checkCancellation()
                return try store?.findings(of: rule) ?? []
            }
        return results.flatMap { $0 }
    }

    private func findings(of rule: any CoreDataRule) throws -> [Finding] {
        var findings = FindingList(level: .coredata)
        do {
            try rule.check(self, &findings)
        } catch let error as StoreError where error.code == .damaged {
            findings.report(.pageDamage, .error, error.message)
        }
        return findings.findings
    }
}
