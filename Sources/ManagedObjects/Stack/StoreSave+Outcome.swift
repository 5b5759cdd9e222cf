internal import FoundationEssentials
internal import StoreFormat
internal import StoreWriting

extension StoreSave {
    /// Tells an outcome of the objects that were inserted, with their rows; returns those whose rows have to be read.
    func takeInserted(_ changes: SaveChanges, into outcome: inout SaveOutcome) -> [ManagedObjectID] {
        var unread: [ManagedObjectID] = []
        let time = ContinuousClock.now
        outcome.inserted.reserveCapacity(request.insertions.count)
        outcome.rows.reserveCapacity(request.insertions.count)
        for insertion in request.insertions {
            guard let key = newKeys[insertion.id], changes.hasInserted(key) else { continue }
            let id = outcome.permanentIDs[insertion.id] ?? insertion.id
            outcome.inserted.insert(id)
            if isAsGiven(insertion, key, changes) {
                outcome.rows.append(row(insertion, id, time, outcome.permanentIDs))
            } else {
                unread.append(id)
            }
        }
        return unread
    }

    /// True when a new object's row reads as what was given for it: reading it again would be half the cost of a save.
    private func isAsGiven(_ insertion: SaveRequest.Insertion, _ key: ObjectKey, _ changes: SaveChanges) -> Bool {
        // What comes back may have been given more than it asked for, by one that made room for it.
        insertion.shape.readsAsWritten && continuedVersions[insertion.id] == nil && !writer.hasTriggers
            && !changes.hasRewritten(key)
            && places[key.entity]?.count == insertion.shape.storedAttributes.count
            && insertion.shape.realAttributes.allSatisfy { !insertion.attributes[$0].isNotANumber }
    }

    private func row(
        _ insertion: SaveRequest.Insertion,
        _ id: ManagedObjectID,
        _ time: ContinuousClock.Instant,
        _ permanentIDs: [ManagedObjectID: ManagedObjectID]
    ) -> RowSnapshot {
        let shape = insertion.shape
        var attributes = insertion.attributes
        for index in shape.transientAttributes { attributes[index] = .null }
        var toOnes = insertion.toOnes
        for (index, destination) in toOnes.enumerated() {
            guard let destination else { continue }
            toOnes[index] = shape.toOnes[index].isTransient ? nil : permanentIDs[destination] ?? destination
        }
        return RowSnapshot(
            id: id,
            version: continuedVersions[insertion.id] ?? 1,
            attributes: attributes,
            toOnes: toOnes,
            time: time
        )
    }
}

extension AttributeValue {
    /// True for what SQLite has no number for, and stores as null.
    fileprivate var isNotANumber: Bool {
        switch self {
        case .real(let value): value.isNaN
        case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }
}
