import CSQLite
import StoreAccess
import StoreFormat
import StoreWriting

/// Restores one parked object of a Core Data store, inside a save.
struct ParkedObject {
    private let row: ParkedRow
    private let writer: RowWriter

    init(_ row: ParkedRow, _ writer: RowWriter) {
        self.row = row
        self.writer = writer
    }

    func restore() throws -> ParkedRowOutcome {
        guard let place = writer.layout.entities[row.entity], !place.isAbstract else {
            return .refused("the store has no entity of that name")
        }
        var values: [String: SQLValue] = [:]
        for (name, value) in row.values {
            guard let attribute = place.attribute(name)?.description, !attribute.isDerived else { continue }
            values[name] = value.sqlValue
        }
        var object: ObjectKey?
        if case .integer(let key)? = row.target?.first { object = try writer.object(row.entity, key) }
        if let object, object.entity != row.entity {
            return .refused("an object of \(object.entity) has its key now")
        }
        do {
            if let object {
                try writer.update(object, values)
                try connect(object, place)
                return .updated
            }
            let key = ObjectKey(entity: row.entity, primaryKey: try writer.allocateKeys(for: row.entity, count: 1))
            try writer.insert(key, values)
            try connect(key, place)
            return .inserted
        } catch let conflict as UniquenessConflict {
            let names = conflict.constraint.joined(separator: ", ")
            return .refused("another object has its unique values (\(names))")
        }
    }

    /// Restores its relationships to those partners that exist.
    private func connect(_ object: ObjectKey, _ place: StoreLayout.Entity) throws {
        for (name, keys) in row.partners.sorted(by: { $0.key < $1.key }) {
            guard let description = place.relationship(name)?.description else { continue }
            let present = Set(try writer.destinations(of: object, name).map(\.primaryKey))
            for key in keys where !present.contains(key) {
                guard let partner = try writer.object(description.destination, key) else { continue }
                try writer.connect(object, name, to: partner)
            }
        }
    }
}

/// Restores one parked row of a table, inside a transaction.
struct ParkedPlainRow {
    private let row: ParkedRow
    private let layout: PlainLayout
    private let connection: StoreConnection

    init(_ row: ParkedRow, _ layout: PlainLayout, _ connection: StoreConnection) {
        self.row = row
        self.layout = layout
        self.connection = connection
    }

    func restore() throws -> ParkedRowOutcome {
        let isWhole = !row.key.isEmpty
        guard let table = layout.tables.first(where: { $0.name == row.entity && $0.isBag != isWhole }) else {
            return .refused("the store has no such table")
        }
        let columns = table.columns.filter { row.values[$0] != nil }
        var values = Dictionary(columns.map { ($0, row.values[$0]?.sqlValue ?? .null) }, uniquingKeysWith: { $1 })
        do {
            let target = row.target.map { PlainKey($0.map(\.sqlValue)) }
            if !table.isBag, let target, try table.row(target, in: connection) != nil {
                let written = columns.filter { name in !table.key.contains { table.columns[$0] == name } }
                guard !written.isEmpty else { return .updated }
                let count = target.values.count
                let list = written.enumerated().map { "\(SQLName.quoted($0.element)) = ?\(count + $0.offset + 1)" }
                try connection.run(
                    "UPDATE \(table.quotedName) SET \(list.joined(separator: ", ")) "
                        + "WHERE \(table.condition(inSource: false))",
                    target.values + written.map { values[$0] ?? .null }
                )
                return .updated
            }
            if table.hasMovableKey, try table.row(PlainKey(row.key.map(\.sqlValue)), in: connection) != nil {
                // Another row has its number now.
                let greatest = try table.greatestKey(in: connection)
                guard greatest < Int64.max else { return .refused("the table has no number left") }
                for column in table.key { values[table.columns[column]] = .integer(greatest + 1) }
            }
            let list = columns.map(SQLName.quoted).joined(separator: ", ")
            let places = columns.map { _ in "?" }.joined(separator: ", ")
            try connection.run(
                "INSERT INTO \(table.quotedName) (\(list)) VALUES (\(places))",
                columns.map { values[$0] ?? .null }
            )
            return .inserted
        } catch {
            guard connection.withHandle({ sqlite3_extended_errcode($0) }) & 0xff == SQLITE_CONSTRAINT else {
                throw error
            }
            return .refused("a constraint of the table refuses it")
        }
    }
}
