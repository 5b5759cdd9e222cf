package import StoreAccess

/// A summary of a store's content for an inspection: its kind and its counts.
struct ContentSummary {
    private(set) var kind = StoreInspection.Kind.sqlite
    private(set) var metadata: StoreMetadata?
    private(set) var model: ManagedObjectModel?
    private(set) var annotations = ModelAnnotations()
    private(set) var modelSource: StoreInspection.ModelSource?
    private(set) var entities: [StoreInspection.EntityCount] = []
    private(set) var joinTables: [StoreInspection.TableCount] = []
    private(set) var tables: [StoreInspection.TableCount] = []
    private(set) var history: HistorySummary?
    private(set) var historyTables = HistoryTables()
    private(set) var findings: [Finding] = []

    private let connection: StoreConnection
    private let schema: StoreSchema
    private let counts: Bool
    private let monitor: WorkMonitor

    /// Reads the summary; without `counts` every number of rows is 0.
    init(of connection: StoreConnection, counts: Bool, monitor: WorkMonitor) throws {
        self.connection = connection
        self.counts = counts
        self.monitor = monitor
        schema = try StoreSchema(reading: connection)
        // A view of that name is not Core Data's metadata.
        if schema.table(named: "Z_METADATA")?.holdsRows == true, schema.table(named: "Z_PRIMARYKEY")?.holdsRows == true,
            let metadata = try StoreMetadata(reading: connection),
            let recorded = try EntityNumbers(reading: connection)
        {
            kind = .coreData
            self.metadata = metadata
            try readModel(recorded)
            let numbers = model.map { recorded.named(by: $0) } ?? recorded
            try countObjects(numbers)
            try countJoins()
            try readHistory()
            let model = Set(
                numbers.entries.map { "Z" + $0.name.uppercased() } + joinTables.map { $0.name.uppercased() }
            )
            try countTables { !model.contains($0.uppercased()) && !StoreSchema.isCoreDataBook($0) }
            historyTables = HistoryTables(
                present: HistoryTables.all.filter { schema.table(named: $0) != nil },
                areNumbered: numbers.number(of: "TRANSACTION") != nil
            )
        } else {
            try countTables { _ in true }
        }
    }

    // MARK: Core Data

    /// Decodes the model that Core Data keeps in the store; without one, infers a model from the tables.
    private mutating func readModel(_ numbers: EntityNumbers) throws {
        if schema.table(named: "Z_MODELCACHE")?.column(named: "Z_CONTENT") != nil,
            let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE WHERE length(Z_CONTENT) < 67108864")?
                .blob
        {
            do {
                let cached = try ManagedObjectModel.annotated(modelCache: bytes)
                (model, annotations) = (cached.model, cached.annotations)
                modelSource = .modelCache
                return
            } catch {
                findings.append(
                    Finding(
                        .modelCacheUnreadable,
                        .info,
                        level: .coredata,
                        "the model that Core Data keeps in the store cannot be decoded",
                        table: "Z_MODELCACHE"
                    )
                )
            }
        }
        model = .inferred(from: schema, entityNumbers: numbers)
        modelSource = .inferred
    }

    /// Counts the objects of each entity in one scan of its table, which all entities of its root share.
    private mutating func countObjects(_ numbers: EntityNumbers) throws {
        var objects: [Int64: Int64] = [:]
        for root in numbers.roots where root.isOfModel && counts {
            guard let table = schema.table(named: "Z" + root.name.uppercased()), table.column(named: "Z_ENT") != nil
            else { continue }
            // One column for each entity; SQLite limits their number.
            let subtree = numbers.subtree(of: root.number)
            var rest: Int64 = 0
            for start in stride(from: 0, to: subtree.count, by: 100) {
                try monitor.checkCancellation()
                let part = Array(subtree[start..<min(start + 100, subtree.count)])
                let list = part.map { ", sum(Z_ENT = \($0))" }.joined()
                let sql = "SELECT sum(1)\(list) FROM \(SQLName.quoted(table.name)) NOT INDEXED"
                try connection.forEachRow(sql) { row in
                    if start == 0 { rest = row.integer(0) }
                    for (column, number) in part.enumerated() {
                        objects[number] = row.integer(column + 1)
                        rest -= row.integer(column + 1)
                    }
                }
            }
            // Rows with a foreign entity number are objects too, and must be reported.
            if rest > 0 {
                objects[root.number, default: 0] += rest
                findings.append(
                    Finding(
                        .entityNumberForeign,
                        .info,
                        level: .coredata,
                        "\(rest) rows have an entity number that is not of this table",
                        entity: root.name,
                        table: table.name
                    )
                )
            }
        }
        entities = numbers.modelEntries.map { entry in
            StoreInspection.EntityCount(
                name: entry.name,
                id: entry.number,
                parent: numbers.entry(entry.parent)?.name,
                objects: objects[entry.number] ?? 0
            )
        }
    }

    /// The tables of many-to-many relationships: `Z_`, an entity's number, and a relationship's name.
    private mutating func countJoins() throws {
        joinTables = try schema.tables
            .filter { table in
                let name = table.name.utf8
                return name.starts(with: "Z_".utf8) && name.dropFirst(2).first.map { (48...57).contains($0) } == true
                    && table.holdsRows && table.columns.count >= 2
            }
            .map { StoreInspection.TableCount(name: $0.name, rows: try rows(of: $0.name)) }
    }

    private mutating func readHistory() throws {
        guard PersistentHistory(schema: schema) != nil else { return }
        history = HistorySummary(
            transactions: try rows(of: "ATRANSACTION"),
            changes: try rows(of: "ACHANGE"),
            first: try connection.value("SELECT min(Z_PK) FROM ATRANSACTION")?.integer,
            last: try connection.value("SELECT max(Z_PK) FROM ATRANSACTION")?.integer
        )
    }

    // MARK: Tables

    private mutating func countTables(where isWanted: (String) -> Bool) throws {
        for table in schema.tables where isWanted(table.name) {
            switch table.kind {
            case .ordinary, .withoutRowID:
                tables.append(StoreInspection.TableCount(name: table.name, rows: try rows(of: table.name)))
            case .virtual:
                // One of its shadow tables has a row for each of its rows. A full-text index with neither content nor sizes
                // has only segments (`_idx`, `_segdir`). A module without such a table counts as empty.
                let shadow = ["_content", "_docsize", "_rowid", "_idx", "_segdir"].map { table.name + $0 }
                    .first { schema.table(named: $0)?.holdsRows == true }
                tables.append(StoreInspection.TableCount(name: table.name, rows: try shadow.map(rows) ?? 0))
            case .shadow, .ofSQLite: break
            }
        }
    }

    private func rows(of table: String) throws -> Int64 {
        guard counts else { return 0 }
        try monitor.checkCancellation()
        // Not count(*): SQLite counts a page tree in one step, which might never end in a hostile file.
        return try connection.value("SELECT sum(1) FROM \(SQLName.quoted(table)) NOT INDEXED")?.integer ?? 0
    }
}

extension Finding.Code {
    /// A row's `Z_ENT` is not of an entity of its table; the inspection counts the row for the root entity.
    package static let entityNumberForeign = Self(rawValue: "entityNumberForeign")
    /// The content of `Z_MODELCACHE` is not a decodable model.
    package static let modelCacheUnreadable = Self(rawValue: "modelCacheUnreadable")
}

extension StoreInspection {
    /// True if the store that a connection reads has no objects and no other rows.
    package static func isEmpty(_ connection: StoreConnection, monitor: WorkMonitor) throws -> Bool {
        let content = try ContentSummary(of: connection, counts: true, monitor: monitor)
        return content.entities.allSatisfy { $0.objects == 0 } && content.tables.allSatisfy { $0.rows == 0 }
    }
}
