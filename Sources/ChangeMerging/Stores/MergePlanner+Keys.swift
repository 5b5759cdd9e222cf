import SafeFiles
import StoreAccess
import StoreFormat

/// The values that identify an object of an entity.
struct Identification: Hashable {
    let entity: String
    let values: [String: SQLValue]
}

extension MergePlanner {
    /// Finds the key in the shared store of every object that the old side inserted.
    ///
    /// An object keeps its own key only if the shared store never assigned that key: other processes may still know the
    /// key of a deleted object.
    mutating func mapKeys() throws {
        var greatest: [String: (shared: Int64, next: Int64)] = [:]
        for root in sides.shared.roots {
            let shared = try sides.shared.greatestKey(of: root)
            greatest[root] = (shared, max(shared, try sides.old.greatestKey(of: root)))
        }
        for (source, entity) in insertedInOrderOfIdentities {
            if let same = try sameObject(as: source, of: entity) {
                joined.insert(same)
                plan.remapping.map(source, of: entity, to: same.key, .sameObject)
                continue
            }
            guard var known = greatest[source.root] else { continue }
            var target = RowKey(root: source.root, key: 0 &- source.key)
            var reason: RekeyingReason?
            if target.key <= known.shared {
                guard known.next < Int64.max else {
                    throw StoreError(.damaged, path: sides.shared.connection.location.path, "the keys are used up")
                }
                known.next += 1
                greatest[source.root] = known
                target = RowKey(root: source.root, key: known.next)
                reason = .newKey
            }
            plan.remapping.map(source, of: entity, to: target.key, reason)
            if var names = lacking[entity] { parkLackingAttributes(&names, of: source, entity) }
            arriving.insert(target)
            plan.insertions.append(MergePlan.Insertion(source: source, target: target, entity: entity))
        }
        plan.greatestKeys = greatest.mapValues(\.next)
    }

    /// The old side's insertions, in the order of their keys; objects come after those that identify them.
    private var insertedInOrderOfIdentities: [(source: RowKey, entity: String)] {
        let rows = SideChanges.sorted(old.inserted.keys.map { RowKey(root: $0.root, key: 0 &- $0.key) })
            .map { RowKey(root: $0.root, key: 0 &- $0.key) }
            .compactMap { row in old.inserted[row].map { (source: row, entity: $0) } }
        let depths = Dictionary(uniqueKeysWithValues: Set(rows.map(\.entity)).map { ($0, rules.depth(of: $0) ?? 0) })
        guard depths.values.contains(where: { $0 > 0 }) else { return rows }
        return Dictionary(grouping: rows) { depths[$0.entity] ?? 0 }.sorted { $0.key < $1.key }.flatMap(\.value)
    }

    /// Collects the objects of the shared side alone, which an object inserted by the old side may match.
    ///
    /// An object that both sides had in the base never matches: the old side has both.
    mutating func identify() throws {
        identified = [:]
        let inserted = Set(old.inserted.values)
        guard inserted.contains(where: { !rules.identities(of: $0).isEmpty }) else { return }
        let kept = old.deleted.filter { self.kept.contains($0.key) }
        for (row, entity) in shared.inserted.merging(kept, uniquingKeysWith: { inserted, _ in inserted })
        where inserted.contains(entity) {
            for names in rules.identities(of: entity) {
                guard let identification = try identification(of: row, entity, names, on: sides.shared) else {
                    continue
                }
                identified[identification, default: []].append(row)
            }
        }
        identified = identified.mapValues { SideChanges.sorted($0) }
    }

    /// Nil if one of the values is missing: missing values do not identify an object.
    private func identification(
        of row: RowKey,
        _ entity: String,
        _ names: [String],
        on side: MergeSide
    ) throws -> Identification? {
        guard var values = try side.stored(names, of: entity, row.key), !values.values.contains(.null) else {
            return nil
        }
        for name in names where values[name] == nil {
            guard let partner = try partner(name, of: row, entity, on: side) else { return nil }
            values[name] = .integer(partner)
        }
        return Identification(entity: entity, values: values)
    }

    /// The key in the shared store of the object at a to-one relationship; nil without one, or before it is known.
    private func partner(_ name: String, of row: RowKey, _ entity: String, on side: MergeSide) throws -> Int64? {
        let model = side.layout.model
        for relation in side.relations {
            for end in LinkRelation.Position.allCases
            where relation[end].name == name && model.isEntity(entity, kindOf: relation[end].entity) {
                guard let key = try side.partners(relation, at: end, of: row.key).first else { return nil }
                let found = plan.remapping.row(RowKey(root: relation[end.other].root, key: key)).key
                return found > 0 ? found : nil
            }
        }
        return nil
    }

    private func sameObject(as source: RowKey, of entity: String) throws -> RowKey? {
        guard !identified.isEmpty else { return nil }
        for names in rules.identities(of: entity) {
            guard let identification = try identification(of: source, entity, names, on: sides.old) else { continue }
            if let row = identified[identification]?.first(where: { !joined.contains($0) && plan.deletions[$0] == nil })
            {
                return row
            }
        }
        return nil
    }

    /// The objects of the shared store that have these values and will still have them after the merge.
    func holders(of values: [String: SQLValue], in entity: String) throws -> [(row: RowKey, entity: String)] {
        guard let place = sides.shared.layout.entities[entity], !values.isEmpty, !values.values.contains(.null) else {
            return []
        }
        let names = values.keys.sorted()
        let columns = names.compactMap { place.attribute($0)?.column }.map(SQLName.quoted)
        guard columns.count == names.count else { return [] }
        let condition = columns.map { $0 + " = ?" }.joined(separator: " AND ")
        var found: [(row: RowKey, entity: String)] = []
        try sides.shared.connection.forEachRow(
            "SELECT Z_PK, Z_ENT FROM \(SQLName.quoted(place.table)) WHERE \(condition) ORDER BY Z_PK",
            names.compactMap { values[$0] },
            keepingStatement: true
        ) { row in
            guard let entity = sides.shared.layout.entity(ofRowNumbered: row.integer(1), inTable: place.table) else {
                return
            }
            let key = RowKey(root: place.root, key: row.integer(0))
            guard plan.deletions[key] == nil else { return }
            // The old side changed the values, and the shared side did not.
            let isLetGo =
                old.updated[key]?.isDisjoint(with: names) == false
                && shared.updated[key]?.isDisjoint(with: names) != false && shared.inserted[key] == nil
                && !holdingOn.contains(key)
            if !isLetGo { found.append((key, entity.name)) }
        }
        return found
    }
}
