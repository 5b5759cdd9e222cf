internal import FoundationEssentials
internal import StoreFormat
internal import StoreWriting

extension StoreSave {
    /// Adds the inserted objects and their rows to an outcome; returns those whose rows must be read.
    mutating func takeInserted(_ changes: SaveChanges, into outcome: inout SaveOutcome) -> [ManagedObjectID] {
        var unread: [ManagedObjectID] = []
        let time = ContinuousClock.now
        outcome.inserted.reserveCapacity(insertionKeys.count)
        outcome.insertions.reserveCapacity(insertionKeys.count)
        var lastShape: ObjectShape?
        var isWhole = false
        for index in insertionKeys.indices {
            let (key, id) = (insertionKeys[index], insertionIDs[index])
            guard !changes.hasDeletions || changes.hasInserted(key) else { continue }
            let insertion = request.insertions[index]
            if insertion.shape !== lastShape {
                lastShape = insertion.shape
                isWhole = places[key.entity]?.count == insertion.shape.storedAttributes.count
            }
            outcome.inserted.insert(id)
            let row = isWhole && isAsGiven(insertion, key, changes) ? row(insertion, id, time) : nil
            if row == nil { unread.append(id) }
            outcome.insertions.append(SaveOutcome.Insertion(id: insertion.id, permanentID: id, row: row))
        }
        return unread
    }

    /// True when a new object's row equals the given values: reading it again would double the cost of a save.
    private func isAsGiven(_ insertion: SaveRequest.Insertion, _ key: ObjectKey, _ changes: SaveChanges) -> Bool {
        // A restored object may have got further values from an object that it replaces.
        insertion.shape.readsAsWritten && continuedVersions[insertion.id] == nil && !writer.hasTriggers
            && !changes.hasRewritten(key)
            && insertion.shape.realAttributes.allSatisfy { !insertion.attributes[$0].isNotANumber }
    }

    private mutating func row(
        _ insertion: SaveRequest.Insertion,
        _ id: ManagedObjectID,
        _ time: ContinuousClock.Instant
    ) -> RowSnapshot {
        let shape = insertion.shape
        var attributes = insertion.attributes
        for index in shape.transientAttributes { attributes[index] = .null }
        var toOnes = insertion.toOnes
        for (index, destination) in toOnes.enumerated() {
            guard let destination else { continue }
            toOnes[index] = shape.toOnes[index].isTransient ? nil : permanentID(of: destination)
        }
        return RowSnapshot(id: id, version: 1, attributes: attributes, toOnes: toOnes, time: time)
    }
}

extension AttributeValue {
    /// True for NaN, which SQLite stores as null.
    fileprivate var isNotANumber: Bool {
        switch self {
        case .real(let value): value.isNaN
        case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }
}
