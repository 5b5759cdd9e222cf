package import StoreAccess
package import StoreFormat

/// Operations that a merge of two stores needs beyond a save.
extension RowWriter {
    /// Reserves all keys of an entity's root up to one, so that they are not assigned again.
    package func allocateKeys(for entity: String, upTo greatest: Int64) throws {
        let place = try self.entity(entity)
        guard let root = layout.entities[place.root] else { throw damaged("no entity number for \(place.root)") }
        let recorded = try connection.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(root.number)])
        let present = try connection.value("SELECT max(Z_PK) FROM \(SQLName.quoted(place.table))")?.integer ?? 0
        let last = max(recorded?.integer ?? 0, present)
        if greatest > last { _ = try allocateKeys(for: entity, count: greatest - last) }
    }

    /// Makes history number its next transaction and changes above those of another store.
    package func raiseHistoryNumbers(transaction: Int64, change: Int64) throws {
        guard tracksHistory else { return }
        for (name, number) in [("TRANSACTION", transaction), ("CHANGE", change)] {
            try connection.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = max(ifnull(Z_MAX, 0), ?) WHERE Z_NAME = ? AND Z_ENT >= 16000",
                [.integer(number), .text(name)]
            )
        }
    }

    /// Lists an object in the save's history although this save did not change it.
    ///
    /// Call it last; changes of the save override the listing.
    package func list(
        _ key: ObjectKey,
        as kind: HistoryChange.Kind,
        changing slots: Set<HistorySlots.Slot> = [],
        tombstone: [SQLValue] = []
    ) {
        changes.list(key, kind, slots, tombstone: tombstone)
    }
}
