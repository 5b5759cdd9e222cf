internal import StoreFormat

extension ManagedObject {
    /// The destination of a to-one relationship, usually a fault.
    public func object(forKey key: String) throws -> ManagedObject? {
        try graph?.fire(self)
        guard case .toOne(let index) = try relationship(key) else {
            throw ManagedObjectError(
                .unknownProperty,
                "\(shape.name).\(key) is a to-many relationship; use objects(forKey:)"
            )
        }
        return try graph.flatMap { graph in try toOne(index).map(graph.object) }
    }

    /// The destinations of a to-many relationship, in its own order if it is ordered, else by key.
    public func objects(forKey key: String) throws -> [ManagedObject] {
        guard let graph else { return [] }
        return try objectIDs(forRelationshipNamed: key).map(graph.object)
    }

    /// The IDs of a relationship's destinations, without creating objects.
    public func objectIDs(forRelationshipNamed key: String) throws -> [ManagedObjectID] {
        var property = try relationship(key)
        guard let graph else { return [] }
        if case .toOne = property {
            try graph.fire(self)
            property = try relationship(key)
        }
        switch property {
        case .toOne(let index): return toOne(index).map { [$0] } ?? []
        case .toMany(let index): return try graph.members(of: self, index)
        case .attribute: return []
        }
    }

    /// Sets or clears the destination of a to-one relationship, and updates the inverse.
    public func setObject(_ destination: ManagedObject?, forKey key: String) throws {
        let graph = try requireContext()
        try graph.fire(self)
        guard case .toOne(let index) = try relationship(key) else {
            throw ManagedObjectError(.unknownProperty, "\(shape.name).\(key) is a to-many relationship; add or remove")
        }
        try check(destination.map { [$0] } ?? [], for: key)
        try graph.setToOne(self, index, destination)
    }

    /// Sets the destinations of a to-many relationship, and their order if it is ordered.
    public func setObjects(_ destinations: [ManagedObject], forKey key: String) throws {
        let graph = try requireContext()
        let index = try toMany(key)
        try check(destinations, for: key)
        try graph.setMembers(of: self, index, to: destinations)
    }

    /// Adds a destination to a to-many relationship, at the end if it is ordered, and updates the inverse.
    public func add(_ destination: ManagedObject, toKey key: String) throws {
        let graph = try requireContext()
        let index = try toMany(key)
        try check([destination], for: key)
        try graph.add(destination, to: self, index)
    }

    /// Removes a destination from a to-many relationship, and updates the inverse.
    public func remove(_ destination: ManagedObject, fromKey key: String) throws {
        let graph = try requireContext()
        let index = try toMany(key)
        try check([destination], for: key)
        try graph.remove(destination, from: self, index)
    }

    /// True when the relationship's destinations are not read yet.
    public func hasFault(forRelationshipNamed key: String) throws -> Bool {
        switch try relationship(key) {
        case .toMany(let index): return !isInserted && toManys[index]?.base == nil
        case .toOne, .attribute: return isFault
        }
    }

    private func relationship(_ key: String) throws -> ObjectShape.Property {
        guard let property = shape.property(key) else {
            throw ManagedObjectError(.unknownProperty, "\(shape.name) has no property \(key)")
        }
        if case .attribute = property {
            throw ManagedObjectError(.unknownProperty, "\(shape.name).\(key) is an attribute, not a relationship")
        }
        return property
    }

    private func toMany(_ key: String) throws -> Int {
        guard case .toMany(let index) = try relationship(key) else {
            throw ManagedObjectError(.unknownProperty, "\(shape.name).\(key) is a to-one relationship; set it")
        }
        return index
    }

    private func check(_ destinations: [ManagedObject], for key: String) throws {
        guard let relationship = try shape.relationship(self.relationship(key)) else { return }
        for destination in destinations {
            guard destination.graph === graph else {
                throw ManagedObjectError(
                    .foreignObject,
                    "\(shape.name).\(key) cannot refer to an object of another context; get it by its ID"
                )
            }
            guard destination.shape.lineage.contains(relationship.destination) else {
                throw ManagedObjectError(
                    .wrongType,
                    "\(shape.name).\(key) requires \(relationship.destination), not \(destination.shape.name)"
                )
            }
        }
    }
}
