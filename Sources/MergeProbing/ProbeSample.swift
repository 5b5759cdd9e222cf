import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting

/// A small store with some objects of another, with the same tables, model and metadata, for a probe to write to.
///
/// References to objects outside the sample dangle, large values are cut, and only the end of the history and the triggers
/// of derived attributes are copied.
struct ProbeSample {
    /// Longer values are cut; values in external files are not copied.
    private static let mostBytes = 4_096
    private static let whole = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]

    let location: StoreLocation
    let layout: StoreLayout
    let selection: ProbeSelection

    /// Copies a scratch store as it is now, without its relay.
    static func copy(_ source: StoreLocation, to target: StoreLocation, in folder: Directory) throws {
        try StoreReader()
            .withView(of: source) { view in
                let file = try folder.createFile(target.name, mode: 0o600)
                try StillSnapshot(view: view, target: file).copy(monitor: .silent)
                try file.close()
            }
    }

    /// Makes the sample in a folder of our own; the source must not change while it is read.
    init(
        of source: StoreConnection,
        layout: StoreLayout,
        journalMode: StoreHeader.JournalMode,
        named name: String,
        in folder: Directory,
        limits: ProbeSelection.Limits = .init()
    ) throws {
        let schema = try StoreSchema(reading: source)
        selection = try ProbeSelection(reading: source, layout: layout, schema: schema, limits: limits)
        location = StoreLocation(folder: folder.path, name: name)
        self.layout = layout
        let target = try NewStoreFile.create(
            location,
            in: folder,
            layout: .init(journalMode: journalMode, pageSize: Int(source.value("PRAGMA page_size")?.integer ?? 4096)),
            mode: 0o600
        )
        let writing = Writing(source: source, target: target, schema: schema, layout: layout, selection: selection)
        try target.inTransaction(until: Deadline(after: .seconds(60))) {
            try writing.makeTables()
            for table in Self.whole { try writing.copy(table) }
            for table in selection.keys.keys.sorted() { try writing.copyRows(of: table) }
            for table in layout.joinTables { try writing.copyRows(of: table) }
            try writing.copyLastTransaction()
            try writing.makeTriggers()
        }
        if journalMode == .wal { try NewStoreFile.checkpoint(target) }
        try NewStoreFile.closeClean(target)
    }

    /// The making of one sample.
    private struct Writing {
        let source: StoreConnection
        let target: StoreConnection
        let schema: StoreSchema
        let layout: StoreLayout
        let selection: ProbeSelection

        /// The tables with rows of their own, without those of virtual tables.
        private var tables: [StoreSchema.Table] {
            schema.tables.filter {
                switch $0.kind {
                case .ordinary, .withoutRowID: true
                case .virtual, .shadow, .ofSQLite: false
                }
            }
        }

        func makeTables() throws {
            for table in tables {
                if let sql = table.sql { try target.run(sql, []) }
                for index in table.indexes { if let sql = index.sql { try target.run(sql, []) } }
            }
        }

        /// Makes the triggers of derived attributes, last, so that none fires for copied rows.
        ///
        /// Core Data makes no other triggers for objects.
        func makeTriggers() throws {
            let made = Set(tables.map { $0.name.lowercased() })
            for trigger in schema.triggers
            where made.contains(trigger.table.lowercased()) && trigger.name.hasPrefix("Z_DA_") {
                try target.run(trigger.sql, [])
            }
        }

        func copy(_ name: String, where condition: String = "1") throws {
            guard let table = schema.table(named: name) else { return }
            let statement = Statement(table)
            try source.forEachRow(
                "SELECT \(statement.columns) FROM \(SQLName.quoted(table.name)) WHERE \(condition)"
            ) { row in
                try target.run(statement.insertion, (0..<row.columnCount).map { row.value($0) })
            }
        }

        /// Copies the end of the history, since only a history with content makes every role track changes.
        func copyLastTransaction() throws {
            guard schema.table(named: "ATRANSACTION") != nil else { return }
            let last = "(SELECT max(Z_PK) FROM ATRANSACTION)"
            try copy("ATRANSACTION", where: "Z_PK = \(last)")
            try copy("ACHANGE", where: "ZTRANSACTIONID = \(last) ORDER BY Z_PK LIMIT 100")
            try copy(
                "ATRANSACTIONSTRING",
                where: "Z_PK IN (SELECT Z_PK FROM ATRANSACTIONSTRING ORDER BY Z_PK LIMIT 1000)"
            )
        }

        func copyRows(of name: String) throws {
            guard let table = schema.table(named: name) else { return }
            let statement = Statement(table)
            let (links, stored) = (links(of: name), storedAttributes(of: name))
            func copy(_ key: Int64, byReference: Bool) throws {
                try source.forEachRow(
                    "SELECT \(byReference ? statement.references(in: source) : statement.columns) "
                        + "FROM \(SQLName.quoted(table.name)) WHERE Z_PK = ?",
                    [.integer(key)],
                    keepingStatement: true
                ) { row in
                    var values: [SQLValue] = []
                    for (index, column) in statement.names.enumerated() {
                        let value = source.value(
                            of: row,
                            index,
                            at: .cell(table: table.name, column: column, key: ["Z_PK"], [.integer(key)])
                        )
                        values.append(Self.cut(value, of: stored[column.lowercased()], key: key))
                    }
                    for link in links {
                        guard let index = statement.position(of: link.foreignKey.column),
                            let key = values[index].integer, !selection.contains(key, in: link.table)
                        else { continue }
                        for column in [
                            link.foreignKey.column, link.foreignKey.entityColumn, link.foreignKey.orderColumn,
                        ] {
                            if let column, let index = statement.position(of: column) { values[index] = .null }
                        }
                    }
                    try target.run(statement.insertion, values)
                }
            }
            for key in selection.keys[name, default: []].sorted() {
                try source.referencing(table.name) { try copy(key, byReference: $0) }
            }
        }

        func copyRows(of join: StoreLayout.JoinTable) throws {
            guard let table = schema.table(named: join.name), let first = layout.entities[join.first.entity]?.table,
                let second = layout.entities[join.second.entity]?.table
            else { return }
            let statement = Statement(table)
            guard let near = statement.position(of: join.first.column),
                let far = statement.position(of: join.second.column)
            else { return }
            for key in selection.keys[first, default: []].sorted() {
                try source.forEachRow(
                    """
                    SELECT \(statement.columns) FROM \(SQLName.quoted(table.name))
                    WHERE \(SQLName.quoted(join.first.column)) = ? LIMIT 1000
                    """,
                    [.integer(key)],
                    keepingStatement: true
                ) { row in
                    guard selection.contains(row.integer(near), in: first),
                        selection.contains(row.integer(far), in: second)
                    else { return }
                    try target.run(statement.insertion, (0..<row.columnCount).map { row.value($0) })
                }
            }
        }

        /// The columns of a table that refer to rows of others.
        private func links(of name: String) -> [(foreignKey: StoreLayout.ForeignKey, table: String)] {
            layout.entities(inTable: name)
                .flatMap { entity in
                    entity.relationships.compactMap { relationship in
                        guard case .toOne(let foreignKey) = relationship.storage,
                            let table = layout.entities[relationship.description.destination]?.table
                        else { return nil }
                        return (foreignKey, table)
                    }
                }
        }

        private func storedAttributes(of name: String) -> [String: AttributeDescription] {
            Dictionary(
                layout.entities(inTable: name).flatMap(\.attributes).map { ($0.column.lowercased(), $0.description) },
                uniquingKeysWith: { first, _ in first }
            )
        }

        /// The copied value; a cut text stays unique.
        private static func cut(_ value: SQLValue, of attribute: AttributeDescription?, key: Int64) -> SQLValue {
            switch value {
            case .blob(let bytes):
                guard let attribute, attribute.allowsExternalBinaryDataStorage || bytes.count > mostBytes else {
                    return value
                }
                let data: Data? =
                    switch AttributeValue(value, of: attribute) {
                    case .data(let data): data.prefix(mostBytes) + Data("\(key)".utf8)
                    case .externalData: Data("\(key)".utf8)
                    default: nil
                    }
                return data.flatMap { AttributeValue.data($0).stored(for: attribute) } ?? value
            case .text(let text) where text.byteCount > mostBytes:
                return .text("\(text.string.prefix(mostBytes / 4)) \(key)")
            case .large(let large):
                let data = AttributeValue.data(Data("\(key)".utf8))
                return large.isText ? .text("\(key)") : attribute.flatMap { data.stored(for: $0) } ?? .null
            default: return value
            }
        }
    }

    /// How the rows of one table are read and written.
    private struct Statement {
        let names: [String]
        let columns: String
        let insertion: String
        private let table: String

        init(_ table: StoreSchema.Table) {
            self.table = table.name
            names = table.columns.filter { !$0.isGenerated }.map(\.name)
            columns = names.map(SQLName.quoted).joined(separator: ", ")
            let places = names.map { _ in "?" }.joined(separator: ", ")
            insertion = "INSERT INTO \(SQLName.quoted(table.name)) (\(columns)) VALUES (\(places))"
        }

        /// The columns, large values by reference.
        func references(in connection: StoreConnection) -> String {
            names.map { connection.reference(to: $0, of: table, rowID: "Z_PK") }.joined(separator: ", ")
        }

        func position(of column: String) -> Int? {
            names.firstIndex { $0.lowercased() == column.lowercased() }
        }
    }
}

/// A concrete entity of the scratch store, and the attributes that a probe can change.
struct ProbeEntity: Sendable {
    let name: String
    /// The attribute that is marked; nil where none can be.
    let mark: AttributeDescription?
    /// The attribute to sort its objects by; nil where it has none.
    let order: String?
    /// The URIs of its objects in the store.
    let objects: [String]

    /// The entities of a sample, in the order of their names.
    static func all(of sample: ProbeSample, uuid: String) -> [ProbeEntity] {
        sample.layout.entities.values.filter { !$0.isAbstract }
            .sorted { ManagedObjectModel.inByteOrder($0.name, $1.name) }
            .map { entity in
                let unique = Set(sample.layout.model.lineage(of: entity.name).flatMap(\.uniquenessConstraints).joined())
                let able = entity.attributes.map(\.description)
                    .filter { !$0.isDerived && !$0.isTransient && !unique.contains($0.name) }
                let mark = ProbeMark.types.lazy.compactMap { type in able.first { $0.type == type } }.first
                return ProbeEntity(
                    name: entity.name,
                    mark: mark,
                    order: mark?.name ?? entity.order,
                    objects: (sample.selection.samples[entity.name] ?? [])
                        .filter { sample.selection.contains($0, in: entity.table) }
                        .map { ObjectURI(storeUUID: uuid, entity: entity.name, primaryKey: $0).description }
                )
            }
    }

    /// All its objects, in an order that a mark changes where there is one.
    var everything: FetchRequest<ManagedObject>? {
        guard let order else { return nil }
        var request = FetchRequest(entityName: name)
        request.sortDescriptors = [.init(keyPath: order)]
        return request
    }

    /// The objects with a mark.
    func marked(_ number: Int) throws -> FetchRequest<ManagedObject>? {
        guard let mark, var request = everything, let value = ProbeMark.value(number, of: mark.type) else { return nil }
        request.predicate = try FetchPredicate(format: "%K == %@", mark.name, value)
        return request
    }
}

extension StoreLayout.Entity {
    /// An attribute to sort a list of objects without a mark by.
    fileprivate var order: String? {
        let sorted: Set<AttributeDescription.AttributeType> = [.boolean, .uuid, .uri, .binaryData]
        let plain = attributes.map(\.description).filter { !$0.isTransient && !$0.allowsExternalBinaryDataStorage }
        let counted = relationships.map(\.description).first { $0.isToMany && !$0.isTransient }
        return
            (attributes.map(\.description).first { !$0.isTransient && ProbeMark.types.contains($0.type) }
            ?? plain.first { sorted.contains($0.type) })?
            .name ?? counted.map { $0.name + ".@count" }
    }
}

/// The lists of a screen of the reading side, kept up to date by fetched results controllers.
final class ProbeLists: FetchedResultsControllerDelegate {
    /// The key in a context's `userInfo`.
    private static let key = "probe"

    private var controllers: [String: FetchedResultsController] = [:]

    /// Fetches the lists of a context, by name, and tracks them from then on.
    static func follow(
        _ requests: [String: FetchRequest<ManagedObject>],
        behaviour: FetchedResultsController.Behaviour,
        in context: isolated ManagedObjectContext
    ) throws {
        let lists = ProbeLists()
        for (name, request) in requests {
            let controller = FetchedResultsController(
                fetchRequest: request,
                managedObjectContext: context,
                behaviour: behaviour
            )
            // A controller without a delegate does not track changes.
            controller.delegate = lists
            try controller.performFetch()
            lists.controllers[name] = controller
        }
        context.userInfo[key] = lists
    }

    /// The current content of the lists; throws why one of them could not be tracked.
    static func picture(in context: isolated ManagedObjectContext) throws -> ProbePicture {
        guard let lists = context.userInfo[key] as? ProbeLists else { return try ProbePicture([:]) }
        for controller in lists.controllers.values { if let error = controller.updateError { throw error } }
        return try ProbePicture(lists.controllers.mapValues { $0.fetchedObjects ?? [] })
    }

    /// The content of the same lists, fetched in a fresh context.
    static func freshPicture(
        _ requests: [String: FetchRequest<ManagedObject>],
        in context: isolated ManagedObjectContext
    ) throws -> ProbePicture {
        var lists: [String: [ManagedObject]] = [:]
        for (name, request) in requests { lists[name] = try context.fetch(request) }
        return try ProbePicture(lists)
    }
}
