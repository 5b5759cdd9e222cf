import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import TestSupport
import Testing

/// A copy of a genuine store that a test writes to, and the objects that the test inserted.
final class WrittenStore {
    let scratch: ScratchFolder
    let location: StoreLocation
    let connection: StoreConnection
    let writer: RowWriter
    let schema: StoreSchema
    /// The object that the test inserted, by entity.
    var made: [String: ObjectKey] = [:]

    /// Nil for a store without a model.
    init?(copyOf store: String) throws {
        scratch = try ScratchFolder()
        location = try Corpus.copy(store, into: scratch)
        connection = try StoreConnection(location, access: .liveWriting)
        guard let layout = try StoreLayout(reading: connection) else { return nil }
        schema = try StoreSchema(reading: connection)
        let external = ExternalDataWriter(location, in: scratch.directory, identifiers: .random())
        writer = try RowWriter(connection, layout: layout, external: external)
    }

    var layout: StoreLayout { writer.layout }

    /// The entities that objects can have, in the order of their numbers.
    var concreteEntities: [StoreLayout.Entity] {
        layout.entities.values.filter { !$0.isAbstract }.sorted { $0.number < $1.number }
    }

    /// The concrete entities with an attribute that can be set.
    var changeable: [StoreLayout.Entity] {
        concreteEntities.filter { $0.attributes.contains { !$0.description.isDerived } }
    }

    /// Saves, and checks that exactly the rows changed that the save reports.
    @discardableResult
    func save(_ body: () throws -> Void) throws -> SaveResult {
        let before = try TableRows(reading: connection)
        let origin = HistoryWriter.Origin(author: "writer tests", process: "tests", timestamp: 800_000_000.123_456_78)
        let result = try writer.save(from: origin, deadline: Deadline(after: .seconds(60)), body)
        let changes = try before.changes(to: TableRows(reading: connection))
        try check(changes, against: result)
        return result
    }

    private func check(_ changes: [String: [Int64: TableRows.Change]], against result: SaveResult) throws {
        let bookkeeping: Set = ["Z_PRIMARYKEY", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
        let joins = Set(layout.joinTables.map(\.name))
        var reported: [String: Set<Int64>] = [:]
        for key in result.changes.inserted + result.changes.updated + result.changes.deleted {
            reported[try writer.entity(key.entity).table, default: []].insert(key.primaryKey)
        }
        for (table, rows) in changes where !bookkeeping.contains(table) && !joins.contains(table) {
            let isSpatial =
                schema.tables.contains { $0.name == table && $0.kind != .ordinary } || table.hasPrefix("Z_RT_")
            #expect(isSpatial || Set(rows.keys) == reported[table] ?? [], "rows of \(table)")
        }
        for key in result.changes.updated {
            let change = changes[try writer.entity(key.entity).table]?[key.primaryKey]
            let (old, new) = (change?.before?["Z_OPT"]?.integer ?? 0, change?.after?["Z_OPT"]?.integer)
            #expect(new == old + 1, "the version of an object of \(key.entity)")
        }
        for key in result.changes.inserted {
            let change = changes[try writer.entity(key.entity).table]?[key.primaryKey]
            #expect(change?.before == nil && change?.after?["Z_OPT"] == .integer(1))
        }
        #expect(changes["Z_METADATA"] == nil && changes["Z_MODELCACHE"] == nil)
        #expect(writer.tracksHistory == (changes["ATRANSACTION"]?.count == 1))
    }

    /// A value for each settable attribute; values differ between rounds.
    func values(for entity: StoreLayout.Entity, round: Int) -> [String: SQLValue] {
        var result: [String: SQLValue] = [:]
        for attribute in entity.attributes where !attribute.description.isDerived {
            result[attribute.description.name] = Self.value(
                for: attribute.description,
                of: Int(entity.number),
                round: round
            )
        }
        return result
    }

    private static func value(for attribute: AttributeDescription, of entity: Int, round: Int) -> SQLValue {
        switch attribute.type {
        case .integer16, .integer32, .integer64: .integer(Int64(1000 * round + entity))
        case .boolean: .integer(Int64(round % 2))
        case .decimal: .real(1.5 + Double(round))
        case .double, .float: .real(0.25 + Double(round))
        case .date: .real(700_000_000.5 + Double(round))
        case .string: .text("entity \(entity) in round \(round)")
        case .uri: .text("https://example.org/\(entity)/\(round)")
        case .uuid: .blob([UInt8](repeating: UInt8(truncatingIfNeeded: 8 * entity + round), count: 16))
        case .binaryData, .transformable:
            .blob([UInt8](repeating: UInt8(truncatingIfNeeded: round), count: round == 1 ? 150_000 : 40))
        case .undefined, .objectID, .composite: .null
        }
    }

    /// The test's object of an entity or of one that inherits from it.
    func made(kindOf entity: String) -> ObjectKey? {
        concreteEntities.lazy.filter { self.layout.model.isEntity($0.name, kindOf: entity) }
            .compactMap { self.made[$0.name] }.first
    }

    /// The first object of exactly this entity from before the test.
    func genuine(_ entity: StoreLayout.Entity) throws -> ObjectKey? {
        let key = try connection.value(
            "SELECT min(Z_PK) FROM \(SQLName.quoted(entity.table)) WHERE Z_ENT = ? AND Z_PK < ?",
            [.integer(entity.number), .integer(made[entity.name]?.primaryKey ?? .max)]
        )
        return key?.integer.map { ObjectKey(entity: entity.name, primaryKey: $0) }
    }
}
