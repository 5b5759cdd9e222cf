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
