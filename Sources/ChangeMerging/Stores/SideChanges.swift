import StoreFormat

/// One side's changes since the base, by keys alone: values are read again when needed.
package struct SideChanges: Hashable, Sendable {
    /// The concrete entities of objects that only this side has.
    package var inserted: [RowKey: String] = [:]
    /// The concrete entities of objects that only the base has.
    package var deleted: [RowKey: String] = [:]
    /// The changed attributes of objects that both have; empty if only the version changed.
    package var updated: [RowKey: Set<String>] = [:]
    /// The concrete entities of updated objects.
    package var kinds: [RowKey: String] = [:]
    package var linksAdded: Set<Link> = []
    package var linksRemoved: Set<Link> = []
    /// Objects whose ordered relationship changed its members or their order.
    package var reordered: Set<LinkSlot> = []

    package init() {}

    package var isEmpty: Bool {
        inserted.isEmpty && deleted.isEmpty && updated.isEmpty && linksAdded.isEmpty && linksRemoved.isEmpty
            && reordered.isEmpty
    }

    /// The same changes in the keys of the merge.
    func translated(by keys: KeyTranslation, _ relations: [LinkRelation]) -> SideChanges {
        func link(_ link: Link, _ translate: (RowKey) -> RowKey) -> Link {
            let relation = relations[link.relation]
            return Link(
                relation,
                first: translate(RowKey(root: relation.first.root, key: link.first)).key,
                second: translate(RowKey(root: relation.second.root, key: link.second)).key
            )
        }
        var result = SideChanges()
        for (row, entity) in inserted { result.inserted[keys.common(row)] = entity }
        for (row, entity) in deleted { result.deleted[keys.former(row)] = entity }
        for (row, names) in updated { result.updated[keys.former(row)] = names }
        for (row, entity) in kinds { result.kinds[keys.former(row)] = entity }
        result.linksAdded = Set(linksAdded.map { link($0, keys.common) })
        result.linksRemoved = Set(linksRemoved.map { link($0, keys.former) })
        result.reordered = Set(
            reordered.map { slot in
                let relation = relations[slot.relation]
                return LinkSlot(
                    relation,
                    slot.end,
                    keys.common(RowKey(root: relation[slot.end].root, key: slot.key)).key
                )
            }
        )
        return result
    }

    /// The keys of a group, in a deterministic order.
    package static func sorted(_ keys: some Sequence<RowKey>) -> [RowKey] {
        keys.sorted {
            $0.root == $1.root ? $0.key < $1.key : ManagedObjectModel.inByteOrder($0.root, $1.root)
        }
    }

    package static func sorted(_ links: some Sequence<Link>) -> [Link] {
        links.sorted { ($0.relation, $0.first, $0.second) < ($1.relation, $1.first, $1.second) }
    }
}

/// When a side set each property, according to its history.
struct ChangeTimes {
    private struct Times {
        /// When the object was inserted, or changed in a way that cannot be decoded.
        var whole: Double?
        var properties: [String: Double] = [:]
    }

    private var times: [RowKey: Times] = [:]

    init() {}

    init(of side: MergeSide, after number: Int64) throws {
        guard let history = side.history else { return }
        var stamps: [Int64: Double] = [:]
        try history.forEachTransaction(reading: side.connection, after: number) { stamps[$0.number] = $0.timestamp }
        try history.forEachChange(reading: side.connection, after: number) { change in
            guard let entity = change.entity.flatMap(side.layout.entity(numbered:)), let key = change.primaryKey,
                let time = change.transaction.flatMap({ stamps[$0] })
            else { return }
            let row = side.keys.common(RowKey(root: entity.root, key: key))
            guard let properties = change.properties(in: side.layout) else {
                times[row, default: Times()].whole = max(times[row]?.whole ?? time, time)
                return
            }
            for name in properties.names + properties.possibleToMany {
                let known = times[row]?.properties[name] ?? time
                times[row, default: Times()].properties[name] = max(known, time)
            }
        }
    }

    /// When a property of an object was set last; nil if unknown.
    func time(of property: String, in row: RowKey) -> Double? {
        guard let times = times[row] else { return nil }
        return [times.properties[property], times.whole].compactMap { $0 }.max()
    }
}
