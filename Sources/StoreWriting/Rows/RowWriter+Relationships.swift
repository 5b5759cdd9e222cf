import StoreAccess
import StoreFormat

extension RowWriter {
    /// A to-one relationship and its columns.
    struct ToOne {
        let description: RelationshipDescription
        let key: StoreLayout.ForeignKey
    }

    /// Adds `destination` to a relationship of `owner`, or makes it the one destination of a to-one.
    ///
    /// The inverse follows. An ordered relationship appends the destination. An existing connection stays.
    package func connect(_ owner: ObjectKey, _ name: String, to destination: ObjectKey) throws {
        let relationship = try self.relationship(name, of: owner)
        try requireFit(destination, relationship.description, of: owner)
        switch relationship.storage {
        case .toOne(let key):
            try connect(owner, ToOne(description: relationship.description, key: key), to: destination)
        case .oneToMany(_, let key):
            if let inverse = relationship.description.inverse {
                try connect(destination, toOne(inverse, of: destination), to: owner)
            } else {
                try setBackReference(of: destination, key, to: owner)
                try touch(owner, [.oneToMany])
            }
        case .manyToMany(let table, let side, let other):
            try join(owner, destination, in: table, side, other, relationship.description)
        }
    }

    /// Removes `destination` from a relationship of `owner`; the inverse follows.
    ///
    /// Does nothing if they are not connected.
    package func disconnect(_ owner: ObjectKey, _ name: String, from destination: ObjectKey) throws {
        let relationship = try self.relationship(name, of: owner)
        guard try destinations(of: owner, relationship).contains(destination) else { return }
        try disconnect(owner, relationship, destination)
    }

    /// Sets the destination of a to-one relationship; nil empties it.
    package func set(_ owner: ObjectKey, _ name: String, to destination: ObjectKey?) throws {
        let place = try toOne(name, of: owner)
        if let destination {
            try requireFit(destination, place.description, of: owner)
            try connect(owner, place, to: destination)
        } else {
            try empty(owner, place)
        }
    }

    /// The destinations of a relationship, in the order of an ordered one.
    package func destinations(of owner: ObjectKey, _ name: String) throws -> [ObjectKey] {
        try destinations(of: owner, relationship(name, of: owner))
    }

    // MARK: To-one

    private func connect(_ owner: ObjectKey, _ place: ToOne, to destination: ObjectKey) throws {
        let current = try self.destination(of: owner, place)
        guard current != destination else { return }
        if let current { try unfollow(owner, place.description, current) }
        try release(destination, from: place.description, before: owner)
        try write(owner, place, leadingTo: destination)
        try follow(owner, place.description, to: destination)
    }

    private func empty(_ owner: ObjectKey, _ place: ToOne) throws {
        if let current = try destination(of: owner, place) { try unfollow(owner, place.description, current) }
        try clear(owner, place)
    }

    /// In a one-to-one the destination is disconnected from its former owner.
    func release(
        _ destination: ObjectKey,
        from relationship: RelationshipDescription,
        before owner: ObjectKey
    ) throws {
        guard let inverse = relationship.inverse, !isNew(destination) || changes.hasInserted(destination),
            let relation = try plan(of: destination.entity).relationships[inverse],
            case .toOne(let key) = relation.storage
        else { return }
        let place = ToOne(description: relation.description, key: key)
        guard let former = try self.destination(of: destination, place), former != owner else { return }
        try clear(former, toOne(relationship.name, of: former))
        try clear(destination, place)
    }

    /// Updates the inverse of a to-one that now refers to `destination`.
    func follow(_ owner: ObjectKey, _ relationship: RelationshipDescription, to destination: ObjectKey) throws {
        guard let name = relationship.inverse else { return }
        let inverse = try self.relationship(name, of: destination)
        switch inverse.storage {
        case .toOne(let key):
            if isNew(destination), !changes.hasInserted(destination) {
                promise(destination, name, owner)
            } else {
                let place = ToOne(description: inverse.description, key: key)
                if try self.destination(of: destination, place) != owner {
                    try write(destination, place, leadingTo: owner)
                }
            }
        case .oneToMany: try touch(destination, [.oneToMany])
        case .manyToMany: try touch(destination, [.manyToMany])
        }
    }

    /// Updates the inverse of a to-one that no longer refers to `destination`.
    func unfollow(
        _ owner: ObjectKey,
        _ relationship: RelationshipDescription,
        _ destination: ObjectKey
    ) throws {
        guard let name = relationship.inverse else { return }
        let inverse = try self.relationship(name, of: destination)
        switch inverse.storage {
        case .toOne(let key):
            let place = ToOne(description: inverse.description, key: key)
            // If the two sides disagree, the other side's pair stays.
            if try self.destination(of: destination, place) == owner { try clear(destination, place) }
        case .oneToMany: try touch(destination, [.oneToMany])
        case .manyToMany: try touch(destination, [.manyToMany])
        }
    }

    /// The column values of a to-one: key, concrete entity and order key are set together.
    func columns(
        of place: ToOne,
        leadingTo destination: ObjectKey,
        in entity: StoreLayout.Entity
    ) throws -> [String: SQLValue] {
        var row: [String: SQLValue] = [place.key.column: .integer(destination.primaryKey)]
        if let column = place.key.entityColumn { row[column] = .integer(try self.entity(destination.entity).number) }
        if let column = place.key.orderColumn {
            row[column] = try nextOrder(entity.table, column, where: place.key.column, is: destination)
        }
        return row
    }

    private func write(_ owner: ObjectKey, _ place: ToOne, leadingTo destination: ObjectKey) throws {
        let row = try columns(of: place, leadingTo: destination, in: entity(owner.entity))
        let names = row.keys.sorted()
        try update(
            owner,
            names.map { "\(SQLName.quoted($0)) = ?" },
            names.compactMap { row[$0] },
            changing: [.property(place.description.name)]
        )
    }

    func clear(_ owner: ObjectKey, _ place: ToOne) throws {
        let entity = try self.entity(owner.entity)
        let isSet = try connection.value(
            "SELECT \(SQLName.quoted(place.key.column)) IS NOT NULL FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?",
            [.integer(owner.primaryKey)]
        )
        guard isSet == .integer(1) else { return }
        let columns = [place.key.column, place.key.entityColumn, place.key.orderColumn].compactMap { $0 }
        try update(
            owner,
            columns.map { "\(SQLName.quoted($0)) = NULL" },
            [],
            changing: [.property(place.description.name)]
        )
    }

    // MARK: To-many

    /// A to-many without an inverse is stored in columns of the destinations, which count as changed too.
    private func setBackReference(of destination: ObjectKey, _ key: StoreLayout.ForeignKey, to owner: ObjectKey?) throws
    {
        let table = try entity(destination.entity).table
        let current = try connection.value(
            "SELECT \(SQLName.quoted(key.column)) FROM \(SQLName.quoted(table)) WHERE Z_PK = ?",
            [.integer(destination.primaryKey)]
        )
        guard current?.integer != owner?.primaryKey else { return }
        var row: [String: SQLValue] = [key.column: owner.map { .integer($0.primaryKey) } ?? .null]
        if let column = key.entityColumn {
            row[column] = try owner.map { .integer(try entity($0.entity).number) } ?? .null
        }
        if let column = key.orderColumn {
            row[column] = try owner.map { try nextOrder(table, column, where: key.column, is: $0) } ?? .null
        }
        let names = row.keys.sorted()
        try update(
            destination,
            names.map { "\(SQLName.quoted($0)) = ?" },
            names.compactMap { row[$0] },
            changing: [.hidden]
        )
    }

    private func join(
        _ owner: ObjectKey,
        _ destination: ObjectKey,
        in table: String,
        _ side: StoreLayout.JoinTable.Side,
        _ other: StoreLayout.JoinTable.Side,
        _ relationship: RelationshipDescription
    ) throws {
        let pair: [SQLValue] = [.integer(owner.primaryKey), .integer(destination.primaryKey)]
        let condition = Self.pairCondition(side, other)
        guard try connection.value("SELECT 1 FROM \(SQLName.quoted(table)) WHERE \(condition)", pair) == nil else {
            return
        }
        var columns = [side.column, other.column]
        var arguments = pair
        if let column = side.orderColumn {
            columns.append(column)
            arguments.append(try nextOrder(table, column, where: side.column, is: owner))
        }
        if let column = other.orderColumn, column != side.orderColumn {
            columns.append(column)
            arguments.append(try nextOrder(table, column, where: other.column, is: destination))
        }
        let names = columns.map(SQLName.quoted).joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try connection.run("INSERT INTO \(SQLName.quoted(table)) (\(names)) VALUES (\(places))", arguments)
        try touch(owner, [.manyToMany])
        try touch(destination, [.manyToMany])
    }

    func disconnect(
        _ owner: ObjectKey,
        _ relationship: StoreLayout.Relationship,
        _ destination: ObjectKey
    ) throws {
        switch relationship.storage {
        case .toOne(let key): try empty(owner, ToOne(description: relationship.description, key: key))
        case .oneToMany(_, let key):
            if let inverse = relationship.description.inverse {
                try empty(destination, toOne(inverse, of: destination))
            } else {
                try setBackReference(of: destination, key, to: nil)
                try touch(owner, [.oneToMany])
            }
        case .manyToMany(let table, let side, let other):
            try connection.run(
                "DELETE FROM \(SQLName.quoted(table)) WHERE \(Self.pairCondition(side, other))",
                [.integer(owner.primaryKey), .integer(destination.primaryKey)]
            )
            try touch(owner, [.manyToMany])
            try touch(destination, [.manyToMany])
        }
    }

    /// The condition that selects the row of a pair; a symmetric relationship stores it in either direction.
    private static func pairCondition(
        _ side: StoreLayout.JoinTable.Side,
        _ other: StoreLayout.JoinTable.Side
    ) -> String {
        let (left, right) = (SQLName.quoted(side.column), SQLName.quoted(other.column))
        let condition = "(\(left) = ?1 AND \(right) = ?2)"
        return StoreLayout.JoinTable.isReflexive(side, other)
            ? condition + " OR (\(left) = ?2 AND \(right) = ?1)" : condition
    }
}

extension RowWriter {
    /// The destinations of a relationship, in the order of an ordered one, else by their keys.
    func destinations(of owner: ObjectKey, _ relationship: StoreLayout.Relationship) throws -> [ObjectKey] {
        let name = relationship.description.name
        switch relationship.storage {
        case .toOne:
            return try destination(of: owner, toOne(name, of: owner)).map { [$0] } ?? []
        case .oneToMany(let table, let key):
            let order = (key.orderColumn.map { SQLName.quoted($0) + ", " } ?? "") + "Z_PK"
            return try keys(
                inTable: table,
                "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(table)) WHERE \(SQLName.quoted(key.column)) = ? ORDER BY \(order)",
                [.integer(owner.primaryKey)]
            )
        case .manyToMany(let table, let side, let other):
            let destination = try entity(relationship.description.destination).table
            let pairs = StoreLayout.JoinTable.pairs(table, side, other) { "\($0) = ?1" }
            return try keys(
                inTable: destination,
                "SELECT d.Z_PK, d.Z_ENT FROM (\(pairs)) p JOIN \(SQLName.quoted(destination)) d ON d.Z_PK = p.member "
                    + "GROUP BY d.Z_PK ORDER BY min(p.place), d.Z_PK",
                [.integer(owner.primaryKey)]
            )
        }
    }

    /// The destination of a to-one; nil also if the key dangles.
    func destination(of owner: ObjectKey, _ place: ToOne) throws -> ObjectKey? {
        let table = try entity(owner.entity).table
        let destination = try entity(place.description.destination)
        return try keys(
            inTable: destination.table,
            "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(destination.table)) WHERE Z_PK = "
                + "(SELECT \(SQLName.quoted(place.key.column)) FROM \(SQLName.quoted(table)) WHERE Z_PK = ?)",
            [.integer(owner.primaryKey)]
        )
        .first
    }

    /// The objects of a table that a query with the columns `Z_PK` and `Z_ENT` finds.
    ///
    /// Rows with an entity number that the table does not have are skipped.
    func keys(inTable table: String, _ sql: String, _ arguments: [SQLValue]) throws -> [ObjectKey] {
        var found: [ObjectKey] = []
        try connection.forEachRow(sql, arguments) { row in
            if let entity = layout.entity(ofRowNumbered: row.integer(1), inTable: table) {
                found.append(ObjectKey(entity: entity.name, primaryKey: row.integer(0)))
            }
        }
        return found
    }

    func relationship(_ name: String, of owner: ObjectKey) throws(StoreError) -> StoreLayout.Relationship {
        guard let found = try plan(of: owner.entity).relationships[name] else {
            throw unfit("\(owner.entity) has no relationship \(name)")
        }
        return found
    }

    func toOne(_ name: String, of owner: ObjectKey) throws(StoreError) -> ToOne {
        let relationship = try self.relationship(name, of: owner)
        guard case .toOne(let key) = relationship.storage else {
            throw unfit("\(owner.entity).\(name) is a to-many relationship")
        }
        return ToOne(description: relationship.description, key: key)
    }

    /// Throws if a relationship cannot refer to an object of the destination's entity.
    func requireFit(
        _ destination: ObjectKey,
        _ relationship: RelationshipDescription,
        of owner: ObjectKey
    ) throws(StoreError) {
        guard try plan(of: destination.entity).kinds.contains(relationship.destination) else {
            throw unfit(
                "\(owner.entity).\(relationship.name) refers to \(relationship.destination), not \(destination.entity)"
            )
        }
    }
}
