import StoreFormat

extension RowWriter {
    /// The distance between the order keys of neighbours, which leaves room for insertions.
    static var orderSpacing: Int64 { 1024 }

    /// Adds `destination` to a relationship of `owner`, or makes it the one destination of a to-one.
    ///
    /// The inverse follows. An ordered relationship takes the destination at its end.
    package func connect(_ owner: ObjectKey, _ name: String, to destination: ObjectKey) throws {
        let (storage, relationship) = try relationship(name, of: owner)
        guard shape.numbering.subtree(of: relationship.destination).contains(destination.entity) else {
            throw StoreError(
                .incompatible,
                path: "",
                "\(owner.entity).\(name) leads to \(relationship.destination), not to \(destination.entity)"
            )
        }
        switch storage {
        case .toOne:
            try connectToOne(owner, relationship, destination)
        case .oneToMany(let table, let column, _, let orderColumn):
            if let inverse = relationship.inverse {
                try connect(destination, inverse, to: owner)
            } else {
                try setMissingInverse(table, column, orderColumn, owner: owner, destination: destination)
                try touch(owner, slots(ofSameHalfAs: .oneToMany(name), in: owner))
            }
        case .manyToMany(let table, let ownerColumn, let destinationColumn, let orderColumn, let inverseOrder):
            var columns = [ownerColumn, destinationColumn]
            var arguments: [SQLValue] = [.integer(owner.primaryKey), .integer(destination.primaryKey)]
            if let orderColumn {
                columns.append(orderColumn)
                arguments.append(try nextOrder(table, orderColumn, where: ownerColumn, is: owner))
            }
            if let inverseOrder {
                columns.append(inverseOrder)
                arguments.append(try nextOrder(table, inverseOrder, where: destinationColumn, is: destination))
            }
            let names = columns.map(SQLName.quoted).joined(separator: ", ")
            let places = columns.map { _ in "?" }.joined(separator: ", ")
            try connection.run(
                "INSERT OR IGNORE INTO \(SQLName.quoted(table)) (\(names)) VALUES (\(places))",
                arguments
            )
            try touch(owner, slots(ofSameHalfAs: .manyToMany(name), in: owner))
            try touchInverse(of: relationship, on: destination)
        }
    }

    private func connectToOne(
        _ owner: ObjectKey,
        _ relationship: RelationshipDescription,
        _ destination: ObjectKey
    ) throws {
        try disconnectToOne(owner, relationship.name)
        if let inverse = relationship.inverse, !isToMany(inverse, of: destination) {
            try disconnectToOne(destination, inverse)
            try setToOne(destination, inverse, owner)
        }
        try setToOne(owner, relationship.name, destination)
        try touchInverse(of: relationship, on: destination)
    }

    /// Empties a to-one relationship and takes the object out of the inverse.
    func disconnectToOne(_ owner: ObjectKey, _ name: String) throws {
        let (storage, relationship) = try relationship(name, of: owner)
        guard case .toOne(let column, _, _) = storage,
            let current = try destinations(of: owner, column, relationship).first
        else { return }
        if let inverse = relationship.inverse, !isToMany(inverse, of: current) {
            try setToOne(current, inverse, nil)
        } else {
            try touchInverse(of: relationship, on: current)
        }
        try setToOne(owner, name, nil)
    }

    /// Writes key, concrete entity and order key of a to-one, which belong together.
    func setToOne(_ owner: ObjectKey, _ name: String, _ destination: ObjectKey?) throws {
        guard case (.toOne(let column, let entityColumn, let orderColumn), _) = try relationship(name, of: owner) else {
            return
        }
        let entity = try shape.entity(owner.entity)
        var assignments = ["\(SQLName.quoted(column)) = ?"]
        var arguments: [SQLValue] = [destination.map { .integer($0.primaryKey) } ?? .null]
        var slots: Set<StoreShape.HistorySlot> = [.toOneKey(name)]
        if let entityColumn {
            let number = try destination.map { SQLValue.integer(try shape.entity($0.entity).number) }
            assignments.append("\(SQLName.quoted(entityColumn)) = ?")
            arguments.append(number ?? .null)
            slots.insert(.toOneEntity(name))
        }
        if let orderColumn {
            let order = try destination.map { try nextOrder(entity.table, orderColumn, where: column, is: $0) }
            assignments.append("\(SQLName.quoted(orderColumn)) = ?")
            arguments.append(order ?? .null)
            slots.insert(.toOneOrder(name))
        }
        try connection.run(
            "UPDATE \(SQLName.quoted(entity.table)) SET \(assignments.joined(separator: ", ")) WHERE Z_PK = ?",
            arguments + [.integer(owner.primaryKey)]
        )
        try touch(owner, slots)
    }

    /// A to-many without an inverse is kept in a column of the destinations, which count as changed too.
    private func setMissingInverse(
        _ table: String,
        _ column: String,
        _ orderColumn: String?,
        owner: ObjectKey,
        destination: ObjectKey
    ) throws {
        var assignments = ["\(SQLName.quoted(column)) = ?"]
        var arguments: [SQLValue] = [.integer(owner.primaryKey)]
        if let orderColumn {
            assignments.append("\(SQLName.quoted(orderColumn)) = ?")
            arguments.append(try nextOrder(table, orderColumn, where: column, is: owner))
        }
        try connection.run(
            "UPDATE \(SQLName.quoted(table)) SET \(assignments.joined(separator: ", ")) WHERE Z_PK = ?",
            arguments + [.integer(destination.primaryKey)]
        )
        try touch(destination, [])
    }

    private func nextOrder(
        _ table: String,
        _ orderColumn: String,
        where column: String,
        is owner: ObjectKey
    ) throws -> SQLValue {
        let last = try connection.value(
            "SELECT max(\(SQLName.quoted(orderColumn))) FROM \(SQLName.quoted(table)) "
                + "WHERE \(SQLName.quoted(column)) = ?",
            [.integer(owner.primaryKey)]
        )
        let (next, overflow) = (last?.integer ?? 0).addingReportingOverflow(Self.orderSpacing)
        guard !overflow else {
            throw StoreError(.damaged, path: connection.location.path, "the order keys of \(table) are used up")
        }
        return .integer(next)
    }
}

extension RowWriter {
    /// The objects that a to-one column of `owner` leads to: at most one.
    func destinations(
        of owner: ObjectKey,
        _ column: String,
        _ relationship: RelationshipDescription
    ) throws -> [ObjectKey] {
        let entity = try shape.entity(owner.entity)
        let destination = try shape.entity(relationship.destination)
        return try keys(
            "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(destination.table)) WHERE Z_PK = "
                + "(SELECT \(SQLName.quoted(column)) FROM \(SQLName.quoted(entity.table)) WHERE Z_PK = ?)",
            owner
        )
    }

    /// The objects that a query with the columns `Z_PK` and `Z_ENT` finds for `owner`.
    func keys(_ sql: String, _ owner: ObjectKey) throws -> [ObjectKey] {
        var found: [ObjectKey] = []
        try connection.forEachRow(sql, [.integer(owner.primaryKey)]) { row in
            if let entity = entityNames[row.integer(1)] {
                found.append(ObjectKey(entity: entity, primaryKey: row.integer(0)))
            }
        }
        return found
    }

    func relationship(
        _ name: String,
        of owner: ObjectKey
    ) throws(StoreError) -> (storage: StoreShape.RelationshipStorage, relationship: RelationshipDescription) {
        guard let found = try shape.entity(owner.entity).relationships[name] else {
            throw StoreError(.incompatible, path: "", "\(owner.entity) has no relationship \(name)")
        }
        return found
    }

    private func isToMany(_ name: String, of owner: ObjectKey) -> Bool {
        shape.entities[owner.entity]?.relationships[name]?.relationship.isToMany ?? false
    }

    /// A changed to-one changes the to-many at its other end, although no column of the other row changes.
    func touchInverse(of relationship: RelationshipDescription, on destination: ObjectKey) throws {
        guard let name = relationship.inverse,
            let inverse = shape.entities[destination.entity]?.relationships[name]
        else { return }
        switch inverse.storage {
        case .toOne: break
        case .oneToMany: try touch(destination, slots(ofSameHalfAs: .oneToMany(name), in: destination))
        case .manyToMany: try touch(destination, slots(ofSameHalfAs: .manyToMany(name), in: destination))
        }
    }

    /// Every slot of the same kind: the order of to-many slots is not derivable, and reporting too much is safe.
    private func slots(
        ofSameHalfAs slot: StoreShape.HistorySlot,
        in owner: ObjectKey
    ) -> Set<StoreShape.HistorySlot> {
        let slots = shape.entities[owner.entity]?.historySlots ?? []
        return Set(
            slots.filter { candidate in
                switch (candidate, slot) {
                case (.oneToMany, .oneToMany), (.manyToMany, .manyToMany): true
                default: false
                }
            }
        )
    }
}
