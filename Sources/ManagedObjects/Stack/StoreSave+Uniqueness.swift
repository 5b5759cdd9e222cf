internal import StoreFormat
internal import StoreWriting

/// Values that only one object may have, on their way from one to another.
extension StoreSave {
    /// Deletes objects that others of this save supplant, after handing their relationships over.
    mutating func makeRoom() throws {
        for (loser, winner) in request.supplanted {
            // By its own version conflict, the winner may not be saved at all.
            guard newKey(of: winner) != nil || request.updates.contains(where: { $0.id == winner }),
                let holder = try key(of: loser)
            else { continue }
            // One that comes back is led to before it is there.
            if let heir = try key(of: winner) { try writer.handOver(relationshipsOf: holder, to: heir) }
            try writer.delete([holder])
        }
    }

    /// Empties one attribute of every constraint that changes touch, so that values may change places in any order.
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

    /// Gives the emptied attributes their values: new ones, or those they had.
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
    /// True when an object that is there gets other unique values.
    func changesUniqueValues(in model: ModelShape) throws -> Bool {
        try updates.contains { update in
            try model.entity(update.base?.id.entityName ?? update.id.entityName).uniquenessConstraints
                .contains { $0.contains { update.values[$0] != nil } }
        }
    }
}
