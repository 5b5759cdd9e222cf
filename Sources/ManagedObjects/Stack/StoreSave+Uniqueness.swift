internal import StoreFormat
internal import StoreWriting

/// Moving unique values from one object to another.
extension StoreSave {
    /// Deletes objects that other objects of this save replace, after transferring their relationships.
    mutating func makeRoom() throws {
        for (loser, winner) in request.supplanted {
            // A version conflict may have excluded the winner from this save.
            guard newKey(of: winner) != nil || request.updates.contains(where: { $0.id == winner }),
                let holder = try key(of: loser)
            else { continue }
            // References to a restored object are written before its row exists.
            if let heir = try key(of: winner) { try writer.handOver(relationshipsOf: holder, to: heir) }
            try writer.delete([holder])
        }
    }

    /// Clears one attribute of every affected constraint, so that values can be exchanged in any order.
    mutating func parkUniqueValues() throws {
        for update in request.updates {
            guard let key = try key(of: update.id) else { continue }
            let shape = try model.entity(key.entity)
            for constraint in shape.uniquenessConstraints
            where constraint.contains(where: { update.values[$0] != nil }) {
                let name = constraint.first { if case .attribute? = shape.property($0) { true } else { false } }
                guard let name, parked[update.id]?[name] == nil else { continue }
                let present = try writer.park(name, of: key)
                parked[update.id, default: [:]].updateValue(update.values[name] == nil ? present : nil, forKey: name)
            }
        }
    }

    /// Assigns the cleared attributes their new or former values.
    mutating func giveParkedValues() throws {
        for update in request.updates {
            guard let waiting = parked[update.id], let key = try key(of: update.id) else { continue }
            for (name, present) in waiting.sorted(by: { $0.key < $1.key }) {
                if let present {
                    try writer.unpark(name, of: key, present)
                } else if case .attribute(let value)? = update.values[name] {
                    try writer.update(key, writer.stored([name: readable(value)], for: key.entity))
                }
            }
        }
    }
}

extension SaveRequest {
    /// True when an existing object gets other unique values.
    func changesUniqueValues(in model: ModelShape) throws -> Bool {
        try updates.contains { update in
            try model.entity(update.base?.id.entityName ?? update.id.entityName).uniquenessConstraints
                .contains { $0.contains { update.values[$0] != nil } }
        }
    }
}
