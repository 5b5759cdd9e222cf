import StoreAccess
import StoreFormat

/// Compares Core Data stores: the first, the second, and the base if there is one.
struct ManagedComparison {
    private let first: MergeSide
    private let second: MergeSide
    private let base: MergeSide?
    private let sides: MergeSides
    private let includesValues: Bool
    private let monitor: WorkMonitor
    /// The rows that the model does not describe.
    private let outside: PlainComparison

    init(_ places: [MergePlace], includesValues: Bool, _ monitor: WorkMonitor) throws {
        let sides = try places.map { try MergeSide($0.connection, externalData: $0.externalData, model: $0.model) }
        first = sides[0]
        second = sides[1]
        base = sides.count > 2 ? sides[2] : nil
        self.sides = MergeSides(base: base, old: second, shared: first)
        self.includesValues = includesValues
        self.monitor = monitor
        let model = Set(
            sides.flatMap { side in
                side.layout.entities.values.map { $0.table.lowercased() }
                    + side.layout.joinTables.map { $0.name.lowercased() }
            }
        )
        outside = try PlainComparison(places.map(\.connection), includesValues: includesValues, monitor) {
            !model.contains($0.lowercased()) && !StoreSchema.isCoreDataBook($0)
        }
    }

    /// The lower-case name of the table whose difference is reported under this name.
    func table(of entity: String) -> String {
        [first, second].compactMap { $0.layout.entities[entity]?.table }.first?.lowercased() ?? entity.lowercased()
    }

    /// Returns what a merge would do; the objects themselves are not counted there.
    func run(_ body: (ObjectDifference) throws -> Void) throws -> DifferenceSummary {
        var summary = DifferenceSummary()
        guard let base else {
            try compare(first, second, as: nil, body)
            try outside.compareRows(body)
            return summary
        }
        try compare(base, first, as: .first, body)
        try compare(base, second, as: .second, body)
        try outside.compareRows(body)
        var planner = MergePlanner(sides, MergeSettings(source: .scan), monitor: monitor)
        let plan = try planner.makePlan()
        summary.conflicts = includesValues ? plan.conflicts : plan.conflicts.map(\.withoutValues)
        summary.refusals = plan.refusals
        return summary
    }

    /// A relationship of one object, at one of its ends.
    private struct Place: Hashable {
        let relation: Int
        let end: LinkRelation.Position
    }

    private struct Members {
        var added: [Int64] = []
        var removed: [Int64] = []
    }

    private func compare(
        _ before: MergeSide,
        _ after: MergeSide,
        as side: ObjectDifference.Side?,
        _ body: (ObjectDifference) throws -> Void
    ) throws {
        var collector = ChangeCollector(from: before, to: after, monitor: monitor)
        let changes = try collector.scan()
        var members: [RowKey: [Place: Members]] = [:]
        for (links, isAdded) in [(changes.linksAdded, true), (changes.linksRemoved, false)] {
            for link in SideChanges.sorted(links) {
                let relation = after.relations[link.relation]
                for end in LinkRelation.Position.allCases where relation[end].name != nil {
                    let row = RowKey(root: relation[end].root, key: link.key(end))
                    guard changes.inserted[row] == nil, changes.deleted[row] == nil else { continue }
                    let place = Place(relation: link.relation, end: end)
                    let partner = link.key(end.other)
                    if isAdded {
                        members[row, default: [:]][place, default: Members()].added.append(partner)
                    } else {
                        members[row, default: [:]][place, default: Members()].removed.append(partner)
                    }
                }
            }
        }
        var orders: [RowKey: Set<Place>] = [:]
        for slot in changes.reordered {
            let row = RowKey(root: after.relations[slot.relation][slot.end].root, key: slot.key)
            orders[row, default: []].insert(Place(relation: slot.relation, end: slot.end))
        }
        let all = Set(changes.inserted.keys).union(changes.deleted.keys).union(changes.updated.keys)
            .union(members.keys).union(orders.keys)
        for row in SideChanges.sorted(all) {
            try monitor.checkCancellation()
            switch (changes.deleted[row], changes.inserted[row]) {
            case (let old?, let new):
                try body(object(old, row, .deleted, [], after, side))
                if let new { try body(object(new, row, .inserted, [], after, side)) }
            case (nil, let new?): try body(object(new, row, .inserted, [], after, side))
            default:
                guard let entity = try after.entity(of: row)?.name else { continue }
                var properties = try attributes(changes.updated[row] ?? [], of: entity, row, before, after)
                let places = Set((members[row] ?? [:]).keys).union(orders[row] ?? [])
                for place in places {
                    guard let name = after.relations[place.relation][place.end].name else { continue }
                    let moved = members[row]?[place] ?? Members()
                    let isReordered = moved.added.isEmpty && moved.removed.isEmpty
                    if isReordered, try isInSameOrder(row, place, before, after) { continue }
                    properties.append(
                        ObjectDifference.Property(
                            name: name,
                            before: nil,
                            after: nil,
                            added: moved.added,
                            removed: moved.removed,
                            isReordered: isReordered
                        )
                    )
                }
                guard !properties.isEmpty else { continue }
                properties.sort { ManagedObjectModel.inByteOrder($0.name, $1.name) }
                try body(object(entity, row, .updated, properties, after, side))
            }
        }
        try forEachObject(lackingIn: after, of: before) { try body(object($1, $0, .deleted, [], after, side)) }
        try forEachObject(lackingIn: before, of: after) { try body(object($1, $0, .inserted, [], after, side)) }
    }

    /// Order keys may differ although the order is the same.
    private func isInSameOrder(_ row: RowKey, _ place: Place, _ before: MergeSide, _ after: MergeSide) throws -> Bool {
        let (then, now) = (before.relations[place.relation], after.relations[place.relation])
        return try before.partners(then, at: place.end, of: row.key) == after.partners(now, at: place.end, of: row.key)
    }

    private func object(
        _ entity: String,
        _ row: RowKey,
        _ kind: ObjectDifference.Kind,
        _ properties: [ObjectDifference.Property],
        _ store: MergeSide,
        _ side: ObjectDifference.Side?
    ) -> ObjectDifference {
        ObjectDifference(
            side: side,
            entity: entity,
            key: [.integer(row.key)],
            address: ObjectURI(storeUUID: store.metadata.uuid, entity: entity, primaryKey: row.key),
            kind: kind,
            properties: properties
        )
    }

    /// The attributes whose values differ; equal bytes may be in files of different names.
    private func attributes(
        _ names: Set<String>,
        of entity: String,
        _ row: RowKey,
        _ before: MergeSide,
        _ after: MergeSide
    ) throws -> [ObjectDifference.Property] {
        guard !names.isEmpty, let place = after.layout.entities[entity] else { return [] }
        let then = try before.stored(names, of: entity, row.key) ?? [:]
        let now = try after.stored(names, of: entity, row.key) ?? [:]
        var found: [ObjectDifference.Property] = []
        for name in names {
            guard let attribute = place.attribute(name)?.description else { continue }
            let (old, new) = try (
                before.plain(then[name] ?? .null, of: attribute), after.plain(now[name] ?? .null, of: attribute)
            )
            if attribute.allowsExternalBinaryDataStorage, old == new { continue }
            found.append(
                ObjectDifference.Property(
                    name: name,
                    before: includesValues ? StoreMergeConflict.State(old) : nil,
                    after: includesValues ? StoreMergeConflict.State(new) : nil,
                    added: [],
                    removed: [],
                    isReordered: false
                )
            )
        }
        return found
    }

    /// The objects whose table is missing from the other store.
    private func forEachObject(
        lackingIn other: MergeSide,
        of side: MergeSide,
        _ body: (RowKey, String) throws -> Void
    ) throws {
        for root in side.roots where other.table(of: root) == nil {
            guard let table = side.table(of: root) else { continue }
            try side.connection.forEachRow(
                "SELECT Z_PK, ifnull(Z_ENT, 0) FROM \(SQLName.quoted(table)) ORDER BY Z_PK"
            ) { row in
                let entity = side.layout.entity(ofRowNumbered: row.integer(1), inTable: table)?.name ?? root
                try body(RowKey(root: root, key: row.integer(0)), entity)
            }
        }
    }
}
